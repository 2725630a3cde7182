# Compiler settings that every target shares, and one function that makes a folder a library.

add_library(triage_options INTERFACE)
target_include_directories(triage_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(triage_options INTERFACE -Wall -Wextra -Werror)
# g++ 12 sees an overlap in std::string's operator+ that is not there (GCC bug 105651), and values of std::optional that
# are read uninitialised where they are not (GCC bug 80635).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(triage_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(TRIAGE_SANITIZE)
  target_compile_options(triage_options INTERFACE -fsanitize=${TRIAGE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  target_link_options(triage_options INTERFACE -fsanitize=${TRIAGE_SANITIZE})
endif()
if(TRIAGE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# The report types of analysis stand apart, so that report/ and history/ cannot reach its engine.
add_library(triage_analysis_types INTERFACE)
add_library(triage::analysis_types ALIAS triage_analysis_types)
target_link_libraries(triage_analysis_types INTERFACE triage::evidence)

# triage_library(NAME PUBLIC ... PRIVATE ...): every .cpp below NAME/ becomes the library triage::NAME.
function(triage_library name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/generator/")
  add_library(triage_${name} STATIC ${sources})
  add_library(triage::${name} ALIAS triage_${name})
  target_link_libraries(triage_${name} PUBLIC triage_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# triage_embed(NAME HEADER NAMESPACE constant=path ...): text files as string constants in the library triage::NAME.
function(triage_embed name header namespace)
  set(out ${CMAKE_BINARY_DIR}/generated/${name}_embedded.cpp)
  set(files "")
  set(paths "")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([a-z_]+)=(.*)$" _ "${entry}")
    list(APPEND files "${CMAKE_MATCH_1}=${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_2}")
    list(APPEND paths ${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_2})
  endforeach()
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DHEADER=${header} -DNAMESPACE=${namespace} "-DFILES=${files}"
      -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
    VERBATIM)
  target_sources(triage_${name} PRIVATE ${out})
endfunction()
