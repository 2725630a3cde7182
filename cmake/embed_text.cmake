# cmake -DOUT=FILE.cpp -DHEADER=PATH -DNAMESPACE=NS -DFILES="name=path;..." -P embed_text.cmake
# Writes text files as string constants, so that the binary stands alone and the files stay files.
file(WRITE ${OUT}.new "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([a-z_]+)=(.*)$" _ "${entry}")
  file(READ ${CMAKE_MATCH_2} text)
  file(APPEND ${OUT}.new "const std::string_view ${CMAKE_MATCH_1} = R\"embedded(${text})embedded\";\n\n")
endforeach()
file(APPEND ${OUT}.new "}  // namespace ${NAMESPACE}\n")
file(RENAME ${OUT}.new ${OUT})
