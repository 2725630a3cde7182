#include "bundle/input.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

#include "base/text.hpp"
#include "bundle/archive.hpp"
#include "bundle/decoders.hpp"
#include "bundle/layout.hpp"
#include "bundle/manifest.hpp"
#include "bundle/sections.hpp"
#include "bundle/streams.hpp"

namespace triage::bundle {
namespace {

constexpr std::size_t k_head = 64 * 1024;
constexpr std::string_view k_manifest = "manifest.json";
constexpr std::string_view k_bundle_format = "triage-bundle";
constexpr std::string_view k_triage_layout = "triage";
constexpr int k_max_layers = 4;  ///< compression inside compression
constexpr std::size_t k_max_omissions = 1000;

/// Formats that are told apart only to be refused with a word that helps.
std::string_view refusal(std::string_view head, std::string_view path) {
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  const auto ends = [&](std::string_view end) {
    return path.size() > end.size() && path.substr(path.size() - end.size()) == end;
  };
  if (starts("-----BEGIN PGP MESSAGE-----") || ends(".gpg") || ends(".pgp"))
    return "is encrypted with PGP: decrypt it first (gpg -d) and analyse the result";
  if (starts("age-encryption.org/v1") || starts("-----BEGIN AGE ENCRYPTED FILE-----"))
    return "is encrypted with age: decrypt it first and analyse the result";
  if (starts("Salted__")) return "is encrypted with openssl enc: decrypt it first";
  if (starts(std::string_view("7z\xbc\xaf\x27\x1c", 6)))
    return "is a 7z archive, which is not read: unpack it and analyse the directory";
  if (starts("Rar!\x1a\x07"))
    return "is a RAR archive, which is not read: unpack it and analyse the directory";
  return {};
}

std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// The triage bundle that files are part of: its manifest and where it begins.
struct KnownBundle {
  Manifest manifest;
  std::map<std::string_view, const ManifestItem*> by_path;
};
struct Context {
  std::string root;  ///< path of the bundle in its container, ends in '/' or empty
  const KnownBundle* bundle = nullptr;  ///< owned by the reader
};

class Reader {
 public:
  Reader(const InputOptions& options, const FileVisitor& visit)
      : options_(options), visit_(visit) {}

  /// `own_name` names a file in reports; `prefix` stands before what a container holds.
  void read_input(const std::string& input, const std::string& prefix, const std::string& own_name);
  [[nodiscard]] ReadSummary take_summary() { return std::move(summary_); }
  [[nodiscard]] bool stopped() const { return stopped_ || budget_.exhausted; }
  [[nodiscard]] std::uint64_t usable() const { return usable_; }

 private:
  /// One piece of evidence on its way from a container to the visitor.
  struct Item {
    std::string path;  ///< as reports show it
    std::string hint;  ///< what path rules look at
    std::string local_path;
    std::optional<std::uint64_t> size;
    std::string members_prefix;  ///< of the input, should it be an archive
    bool given = false;          ///< named by the person, not found in a container
    int depth = 0;               ///< archives around it
    int layers = 0;              ///< compressions around it, inside the innermost archive
  };

  void walk(const std::string& directory, const std::string& relative, const std::string& prefix,
            Context context, int levels);
  void read_file(const std::string& path, Item item, const Context& context);
  void read_stream(Item item, ByteStream& source, const FileStream* file, const Context& context);
  const KnownBundle* read_manifest(const Item& item, ByteStream& source);
  void read_archive(const Item& item, ArchiveFormat format, ByteStream& source,
                    const FileStream* file);
  void read_leaf(const Item& item, PeekStream& stream, const Context& context);
  void show(const EvidenceFile& file, std::string_view head, ByteStream& stream);

  void omit(const std::string& path, std::string reason) {
    if (summary_.omissions.size() < k_max_omissions) {
      summary_.omissions.push_back({path, std::move(reason)});
    } else if (summary_.omissions.size() == k_max_omissions) {
      summary_.omissions.push_back({"", "and more that are not listed"});
    }
  }
  void warn(const std::string& path, const std::string& what) {
    if (summary_.warnings.size() < k_max_omissions) summary_.warnings.push_back(path + ": " + what);
  }

  const InputOptions& options_;
  const FileVisitor& visit_;
  ReadSummary summary_;
  Budget budget_;
  bool stopped_ = false;
  std::uint64_t usable_ = 0;  ///< files that were neither empty nor binary
  std::set<std::pair<dev_t, ino_t>> walked_;
  std::deque<KnownBundle> bundles_;  ///< a deque, so that contexts can point into it
};

void Reader::read_input(const std::string& input, const std::string& prefix,
                        const std::string& own_name) {
  if (input == "-") {
    const auto stream = FileStream::standard_input(options_.live);
    Item item;
    item.path = own_name;
    item.members_prefix = prefix;
    item.given = true;
    read_stream(item, *stream, nullptr, {});
    return;
  }
  struct stat info {};
  if (::stat(input.c_str(), &info) != 0) {
    omit(input, errno == ENOENT ? "not found" : std::strerror(errno));
    return;
  }
  if (S_ISDIR(info.st_mode)) {
    walk(input, "", prefix, {}, 0);
  } else if (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) {
    Item item;
    item.path = own_name;
    item.hint = input;
    if (S_ISREG(info.st_mode)) item.local_path = input;
    item.members_prefix = prefix;
    item.given = true;
    read_file(input, item, {});
  } else {
    omit(input, "is neither a file nor a directory");
  }
}

void Reader::walk(const std::string& directory, const std::string& relative,
                  const std::string& prefix, Context context, int levels) {
  constexpr int k_max_levels = 64;
  if (stopped()) return;
  if (levels > k_max_levels) {
    omit(prefix + relative, "too many directories inside one another");
    return;
  }
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0 || !walked_.insert({info.st_dev, info.st_ino}).second)
    return;  // gone, or seen: bind mounts can make cycles
  DIR* handle = ::opendir(directory.c_str());
  if (handle == nullptr) {
    omit(relative.empty() ? directory : prefix + relative,
         std::string("the directory cannot be read: ") + std::strerror(errno));
    return;
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(handle)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(handle);
  std::sort(names.begin(), names.end());
  // A triage bundle tells what its files are before they are read.
  const auto manifest = std::find(names.begin(), names.end(), k_manifest);
  if (manifest != names.end()) std::rotate(names.begin(), manifest, manifest + 1);
  for (const std::string& name : names) {
    if (stopped()) return;
    const std::string path = directory + (directory.back() == '/' ? "" : "/") + name;
    const std::string inside = relative.empty() ? name : relative + "/" + name;
    if (std::find(options_.skip.begin(), options_.skip.end(), inside) != options_.skip.end())
      continue;
    struct stat link {};
    if (::lstat(path.c_str(), &link) != 0) {
      omit(prefix + inside, std::strerror(errno));
      continue;
    }
    if (S_ISLNK(link.st_mode)) {
      // What lies inside is read where it lies; what lies outside was not given to us.
      omit(prefix + inside,
           "is a symbolic link, which is not followed: name its target to read it");
    } else if (S_ISDIR(link.st_mode)) {
      walk(path, inside, prefix, context, levels + 1);
    } else if (S_ISREG(link.st_mode)) {
      Item item;
      item.path = prefix + inside;
      item.hint = inside;
      item.local_path = path;
      if (name == k_manifest && context.bundle == nullptr && !options_.every_member) {
        const auto opened = FileStream::open(path);
        if (opened) context.bundle = read_manifest(item, **opened);
        if (context.bundle != nullptr) {
          context.root = relative.empty() ? "" : relative + "/";
          continue;
        }
      }
      read_file(path, item, context);
    } else {
      omit(prefix + inside, "is neither a file nor a directory");
    }
  }
}

void Reader::read_file(const std::string& path, Item item, const Context& context) {
  auto opened = FileStream::open(path);
  if (!opened) {
    omit(item.path, opened.problem().message);
    return;
  }
  FileStream& file = **opened;
  item.size = file.size();
  read_stream(std::move(item), file, file.seekable() ? &file : nullptr, context);
}

void Reader::read_stream(Item item, ByteStream& source, const FileStream* file,
                         const Context& context) {
  if (++budget_.members > options_.limits.max_members) {
    if (!budget_.exhausted)
      warn(item.path, "the limit on members was reached; the rest was not read");
    budget_.exhausted = true;
    return;
  }
  PeekStream stream(source);
  const std::string_view head = stream.peek(k_head);
  if (const std::string_view why = refusal(head, item.path); !why.empty()) {
    omit(item.path, std::string(why));
    return;
  }
  const Compression compression = sniff_compression(head);
  if (compression != Compression::none) {
    if (++item.layers > k_max_layers) {
      omit(item.path, "is compressed too many times over");
      return;
    }
    const auto decoder = make_decoder(
        compression, stream, {options_.limits.ratio_check_from, options_.limits.max_ratio});
    item.local_path.clear();
    item.size.reset();
    --budget_.members;  // still the same member
    read_stream(item, *decoder, nullptr, context);
    if (item.layers == 1 && decoder->damage()) warn(item.path, *decoder->damage());
    return;
  }
  if (Utf16Stream::recognises(head)) {
    Utf16Stream text(stream);
    PeekStream peeked(text);
    item.local_path.clear();
    item.size.reset();
    read_leaf(item, peeked, context);
    return;
  }
  const ArchiveFormat format = sniff_archive(head);
  if (format != ArchiveFormat::none) {
    if (item.depth >= options_.limits.max_depth) {
      omit(item.path, "is an archive nested too deep");
      return;
    }
    read_archive(item, format, stream, file);
    return;
  }
  read_leaf(item, stream, context);
}

/// Reads a manifest and shows it; nothing when it is not one of ours.
const KnownBundle* Reader::read_manifest(const Item& item, ByteStream& source) {
  constexpr std::size_t k_limit = 64 * 1024 * 1024;
  PeekStream stream(source);
  if (!base::contains(stream.peek(k_head), k_bundle_format)) return nullptr;
  std::string text = read_all(stream, k_limit);
  auto parsed = parse_manifest(text);
  if (!parsed) {
    warn(item.path, parsed.problem().message);
    return nullptr;
  }
  KnownBundle& known = bundles_.emplace_back();
  known.manifest = std::move(*parsed);
  const Manifest& manifest = known.manifest;
  for (const auto& listed : manifest.items)
    if (!listed.path.empty()) known.by_path.emplace(listed.path, &listed);
  for (const auto& node : manifest.nodes) {
    NodeClock& clock = summary_.nodes[node.name];
    clock.boot_time_ns = node.boot_time_ns;
    clock.clock_skew_ns = node.clock_skew_ns;
    clock.smi_state = node.smi_state;
  }
  for (const auto& wanted : manifest.items) {
    if (wanted.status == "ok" || wanted.status == "empty") continue;
    summary_.absent.push_back({wanted.kind, wanted.place, wanted.status, wanted.reason,
                               wanted.url.empty() ? base::join(wanted.argv, " ") : wanted.url});
  }
  if (!manifest.complete)
    warn(item.path, "the bundle says that it is incomplete: its collection was cut short");
  return &known;
}

void Reader::read_archive(const Item& item, ArchiveFormat format, ByteStream& source,
                          const FileStream* file) {
  const auto archive = ArchiveReader::open(format, source, file);
  Context context;
  // The archive that was given is the input itself; one inside a container shows in the path.
  const std::string before = item.given && item.depth == 0 ? item.members_prefix : item.path + "!";
  std::uint64_t members = 0;
  while (!stopped()) {
    const auto member = archive->next();
    if (!member) break;
    if (member->type == Member::Type::directory || member->type == Member::Type::link) continue;
    ++members;
    const auto name = clean_member_name(member->name);
    if (!name || name->empty()) {
      omit(before + member->name, "has an unsafe name");
      continue;
    }
    if (member->type == Member::Type::other) continue;
    if (member->encrypted) {
      omit(before + *name, "is encrypted inside the archive: unpack it with its password first");
      continue;
    }
    Item inner;
    inner.hint = *name;
    inner.depth = item.depth + 1;
    inner.size = member->size;
    if (!options_.every_member && context.bundle == nullptr && base_name(*name) == k_manifest &&
        std::count(name->begin(), name->end(), '/') <= 1) {
      inner.path = before + *name;
      PeekStream peeked(archive->content());
      if (base::contains(peeked.peek(k_head), k_bundle_format)) {
        context.bundle = read_manifest(inner, peeked);
        if (context.bundle != nullptr) {
          context.root = name->substr(0, name->size() - k_manifest.size());
          continue;
        }
      }
      read_stream(inner, peeked, nullptr, context);
      continue;
    }
    // A bundle reads the same from its archive as from the directory it unpacks to.
    if (context.bundle != nullptr && name->compare(0, context.root.size(), context.root) == 0) {
      inner.path = before + name->substr(context.root.size());
    } else {
      inner.path = before + *name;
    }
    read_stream(inner, archive->content(), nullptr, context);
  }
  if (archive->damage() && !source.damage())
    warn(item.path, *archive->damage() + "; read up to the damage");
  if (members == 0 && !archive->damage() && !source.damage() && !stopped())
    omit(item.path, "is an archive without files");
}

void Reader::read_leaf(const Item& item, PeekStream& stream, const Context& context) {
  std::string_view in_bundle = item.hint;
  if (context.bundle != nullptr && in_bundle.substr(0, context.root.size()) == context.root)
    in_bundle.remove_prefix(context.root.size());
  LayoutHint hint = read_path(context.bundle != nullptr ? in_bundle : item.hint);
  if (hint.ignore && !item.given && !options_.every_member) return;
  EvidenceFile file;
  file.path = item.path;
  file.size = item.size;
  file.layout = hint.layout;
  file.instance_previous = hint.previous;
  file.local_path = item.local_path;

  const ManifestItem* listed = nullptr;
  if (context.bundle != nullptr)
    if (const auto it = context.bundle->by_path.find(in_bundle);
        it != context.bundle->by_path.end())
      listed = it->second;
  std::optional<evidence::Kind> told = hint.kind;
  if (listed != nullptr) {
    file.layout = k_triage_layout;
    told = listed->kind;
    hint.place = listed->place;
    if (!listed->sha256.empty()) file.sha256 = listed->sha256;
    if (const ManifestNode* node = context.bundle->manifest.node(listed->place.node)) {
      file.boot_time_ns = node->boot_time_ns;
      file.clock_skew_ns = node->clock_skew_ns;
    }
  }
  std::optional<evidence::Place> placed;
  if (const auto it = options_.places.find(item.path); it != options_.places.end())
    placed = it->second;

  const auto finish = [&](EvidenceFile& what, const Recognised& seen) {
    what.kind = seen.kind;
    what.format = seen.format;
    const bool log_like = evidence::is_log(seen.kind);
    if (told && !seen.binary) {
      // A path that says `log of container X` does not make a pod list of it: content keeps the
      // form, the path decides between the kinds that share a form.
      if (evidence::is_log(*told) == log_like || seen.kind == evidence::Kind::unknown_text)
        what.kind = *told;
    } else if (hint.weak_kind && seen.kind == evidence::Kind::unknown_text && !seen.binary) {
      what.kind = *hint.weak_kind;
    }
    evidence::Place place = placed.value_or(evidence::Place{});
    place.fill_from(what.place);
    place.fill_from(hint.place);
    place.fill_from(seen.place);
    what.place = place;
  };

  const std::string_view head = stream.peek(k_head);
  const Sectioned form = options_.split_sections ? sniff_sections(head) : Sectioned::none;
  if (form == Sectioned::none) {
    const std::string head_copy(head.substr(0, k_head));
    finish(file, recognise(head_copy, item.hint));
    show(file, head_copy, stream);
    return;
  }
  told.reset();
  split_sections(form, stream, [&](const Section& section, PeekStream& content) {
    EvidenceFile part = file;
    part.local_path.clear();
    part.size.reset();
    part.first_line = section.first_line;
    part.section = section.title;
    part.place = section.place;
    const std::string part_head(content.peek(k_head).substr(0, k_head));
    told = section.kind;
    finish(part, recognise(part_head, ""));
    show(part, part_head, content);
    return !stopped();
  });
}

void Reader::show(const EvidenceFile& file, std::string_view head, ByteStream& stream) {
  MeteredStream metered(stream, budget_, options_.limits.max_expanded_bytes);
  if (!visit_(file, head, metered)) stopped_ = true;
  ++summary_.files;
  summary_.bytes += metered.delivered();
  if (file.format == evidence::Format::binary)
    summary_.omissions.push_back({file.path, "is binary data that is not known as evidence"});
  else if (!head.empty())
    ++usable_;
  if (metered.damage()) warn(file.path, *metered.damage());
}

/// How an input is called in reports: its own name, or what was typed when names repeat.
std::vector<std::string> own_names(const std::vector<std::string>& inputs) {
  std::map<std::string, int> seen;
  for (const std::string& input : inputs) ++seen[base_name(input)];
  std::vector<std::string> names;
  for (const std::string& input : inputs) {
    std::string name = base_name(input);
    if (seen[name] > 1) {
      if (const auto typed = clean_member_name(input); typed && !typed->empty()) name = *typed;
    }
    names.push_back(name == "." || name == ".." || name.empty() ? "input" : name);
  }
  return names;
}

}  // namespace

base::Result<ReadSummary> read_inputs(const std::vector<std::string>& inputs,
                                      const InputOptions& options, const FileVisitor& visit) {
  if (inputs.empty())
    return base::Problem{"no input was given", "", "name a bundle, a directory, a file or -"};
  Reader reader(options, visit);
  const std::vector<std::string> names = own_names(inputs);
  for (std::size_t i = 0; i < inputs.size() && !reader.stopped(); ++i)
    reader.read_input(inputs[i], inputs.size() > 1 ? names[i] + "/" : "", names[i]);
  const bool stopped = reader.stopped();
  const std::uint64_t usable = reader.usable();
  ReadSummary summary = reader.take_summary();
  if (usable > 0 || stopped) return summary;

  base::Problem problem{"holds nothing that can be read", base::join(inputs, ", "), ""};
  if (!summary.omissions.empty()) {
    const Omission& first = summary.omissions.front();
    problem.where = first.path;
    problem.message = first.reason;
  } else if (!summary.warnings.empty()) {
    problem.message += " (" + summary.warnings.front() + ")";
  } else if (summary.files == 0) {
    problem.message = "the directory holds no file";
  } else {
    problem.message = summary.files == 1 ? "is empty" : "holds only empty files";
  }
  return problem;
}

}  // namespace triage::bundle
