"""Runs the benchmark: each kind of work against its baseline, in interleaved pairs. Started by script/bench."""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SEED = 20250603
REDACT = "mixed evidence through the redaction filter, MiB for each second of user time"


def size_of(text):
    for unit in sorted(UNITS, key=len, reverse=True):
        if text.endswith(unit):
            return int(float(text[: len(text) - len(unit)]) * UNITS[unit])
    raise argparse.ArgumentTypeError(f"not a size: {text}")


def options():
    p = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    p.add_argument("--size", type=size_of, default=size_of("256MiB"), help="of the large inputs (default 256MiB)")
    p.add_argument("--pairs", type=int, default=9, help="interleaved pairs for each row (default 9)")
    p.add_argument("--dir", default=str(ROOT / "build/bench"), help="where the inputs lie (default build/bench)")
    p.add_argument("--triage", default=str(ROOT / "build/release/triage"), help="the binary under test")
    p.add_argument("--only", action="append", default=[], metavar="ROW", help="run only this row (repeatable)")
    p.add_argument("--json", metavar="FILE", help="write the figures there as well")
    p.add_argument("--list", action="store_true", help="name the rows and stop")
    return p.parse_args()


class Inputs:
    """The files that the rows read, made when they are first asked for and kept: same seed, same bytes."""

    def __init__(self, args):
        self.size = args.size
        self.dir = Path(args.dir) / f"{args.size >> 20}MiB"
        self.dir.mkdir(parents=True, exist_ok=True)
        self.maker = str(ROOT / "build/release/bench/triage_bench_inputs")
        # Near misses, storms and patterns come from the rules: with new rules, new inputs.
        digest = subprocess.run([args.triage, "rules", "list", "-f", "json"], capture_output=True, check=True)
        self.digest = json.loads(digest.stdout)["digest"]

    def log(self, kind, size=None, seed=SEED):
        path = self.dir / (f"{kind}-{self.digest}.log" if kind in ("near-miss", "storm") else f"{kind}.log")
        return self.make(path, lambda p: self.run("log", kind, str(size or self.size), str(seed), p))

    def patterns(self, kind):
        return self.make(self.dir / f"{kind}-{self.digest}.patterns", lambda p: self.run("patterns", kind, p))

    def rules(self, count):
        return self.make(self.dir / f"rules-{count}.yaml", lambda p: self.run("rules", str(count), p))

    def packed(self, suffix, command):
        log = self.log("engine")
        name = f"logs/{Path(log).name}"
        tar = f"tar -C {self.dir} --transform 's,^,logs/,' -cf - {Path(name).name}"
        return self.make(self.dir / f"engine.tar.{suffix}", lambda p: shell(f"{tar} | {command} > {p}"))

    def bundle(self):
        """Sixty files of some 20 MiB: logs of pods and nodes, and what else an incident holds."""

        def build(target):
            chance = random.Random(SEED)
            with tarfile.open(target, "w:gz", compresslevel=6) as tar:
                for i in range(24):
                    kind = ("engine", "kernel", "gateway")[i % 3]
                    log = self.dir / "part.log"
                    self.run("log", kind, str(chance.randrange(600_000, 1_100_000)), str(SEED + i), log)
                    name = {"engine": f"pods/llm-{i}/server.log", "kernel": f"nodes/node-{i}/dmesg.txt",
                            "gateway": f"gateway/envoy-{i}.log"}[kind]
                    tar.add(log, name)
                    log.unlink()
                files = sorted(p for p in (ROOT / "fixtures").rglob("*") if p.is_file() and p.name != "case.json")
                for i, path in enumerate(chance.sample(files, 36)):
                    tar.add(path, f"other/{i:02}/{path.name}")

        return self.make(self.dir / "bundle.tar.gz", build)

    def mixed(self):
        """Evidence of every kind as one text: the fixtures' files in ever new order, the seconds of their times changed."""
        chance = random.Random(SEED)
        files = sorted(p for p in (ROOT / "fixtures").rglob("*") if p.is_file() and p.name != "case.json")
        digest = hashlib.sha256()
        texts = []
        for path in files:
            data = path.read_bytes()
            if len(data) > 4_000_000 or b"\0" in data:
                continue
            digest.update(data)
            texts.append(data if data.endswith(b"\n") else data + b"\n")

        def build(target):
            with open(target, "wb") as out:
                while out.tell() < self.size:
                    chance.shuffle(texts)
                    for data in texts:
                        seconds = str(chance.randint(10, 99)).encode()
                        out.write(re.sub(rb"(?<=:)\d\d(?=[.,Z ])", seconds, data))
                        if out.tell() >= self.size:
                            break

        return self.make(self.dir / f"mixed-{digest.hexdigest()[:8]}.txt", build)

    def small_incident(self):
        """A labelled incident of four files."""
        for case in sorted((ROOT / "fixtures").rglob("case.json")):
            if sum(1 for p in case.parent.rglob("*") if p.is_file() and p != case) == 4:
                return str(case.parent)
        raise SystemExit("script/bench: no fixture of four files")

    def run(self, *words):
        subprocess.run([self.maker, *map(str, words)], check=True)

    @staticmethod
    def make(path, build):
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr)
            draft = path.with_name("draft-" + path.name)
            build(draft)
            draft.rename(path)
        return str(path)


def shell(command):
    subprocess.run(["sh", "-c", command], check=True)


def measure(command):
    """Seconds on the wall, seconds of processor, peak MiB of the largest process. Output goes to /dev/null
    inside the shell: a pipe to the harness would slow what it reads."""
    start = time.monotonic()
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"{{ {command} ; }} >/dev/null 2>/dev/null"], os.environ)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):  # ripgrep says 1 when nothing matched
        raise SystemExit(f"script/bench: exit status {code}: {command}")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "user": usage.ru_utime, "rss": usage.ru_maxrss / 1024}


def rows(args, inputs):
    triage = args.triage

    def rg(path):
        limits = "--dfa-size-limit 1G --regex-size-limit 1G"
        return f"rg -a -c -j1 --no-unicode {limits} -f {inputs.patterns('container-log')} {path}"

    def against_rg(kind):
        path = inputs.log(kind)
        return f"{triage} analyze --jobs 1 -f json {path}", rg(path), os.path.getsize(path)

    def packed(suffix, command):
        path = inputs.packed(suffix, command)
        return f"{triage} analyze -f json {path}", f"bsdtar -xOf {path}", inputs.size

    def bundle():
        path = inputs.bundle()
        return f"{triage} analyze -f json {path}", f"bsdtar -xOf {path}", 20 << 20

    def more_rules():
        path = inputs.log("engine")
        count = int(subprocess.run([triage, "rules", "list", "-f", "json"], capture_output=True, check=True)
                    .stdout.count(b'"id":'))
        extra = inputs.rules(max(1, round(count * 1.5)))
        return (f"{triage} analyze --jobs 1 -f json --rules {extra} {path}",
                f"{triage} analyze --jobs 1 -f json {path}", inputs.size)

    # name, what it is, commands, must, goal
    return [
        ("zst", ".tar.zst against bsdtar", lambda: packed("zst", "zstd -q -3"), 1.5, 1.15),
        ("gz", ".tar.gz against bsdtar", lambda: packed("gz", "gzip -6"), 1.3, 1.10),
        ("plain", "plain log, one thread, against ripgrep", lambda: against_rg("engine"), 0.5, 0.33),
        ("bundle", "20 MiB bundle of 60 files, against bsdtar", bundle, 3.0, 2.0),
        ("near-miss", "near-miss text against ripgrep", lambda: against_rg("near-miss"), 2.0, 1.0),
        ("long", "50 MiB lines against ripgrep", lambda: against_rg("long"), 2.0, 1.0),
        ("storm", "92 % of lines match, against ripgrep", lambda: against_rg("storm"), 4.0, 2.0),
        ("rules", "2.5 times the rules against own time", more_rules, 1.5, 1.2),
    ]


def median(runs, key):
    return statistics.median(r[key] for r in runs)


def run_row(row, pairs):
    name, title, commands, must, goal = row
    ours, baseline, size = commands()
    measure(ours), measure(baseline)  # warm files, and the rule cache
    a, b = [], []
    for i in range(pairs):
        order = ((ours, a), (baseline, b)) if i % 2 == 0 else ((baseline, b), (ours, a))
        for command, into in order:
            into.append(measure(command))
    ratios = [x["wall"] / y["wall"] for x, y in zip(a, b)]
    cpu_ratios = [x["cpu"] / y["cpu"] for x, y in zip(a, b)]
    walls = sorted(y["wall"] for y in b)
    spread = (walls[len(walls) * 3 // 4] - walls[len(walls) // 4]) / statistics.median(walls)
    return {"row": name, "what": title, "ratio": statistics.median(ratios), "cpu_ratio": statistics.median(cpu_ratios),
            "must": must, "goal": goal, "seconds": median(a, "wall"), "cpu_seconds": median(a, "cpu"),
            "baseline_seconds": median(b, "wall"), "baseline_cpu_seconds": median(b, "cpu"),
            "mib_per_second": size / (1 << 20) / median(a, "wall"), "peak_mib": max(x["rss"] for x in a),
            "baseline_spread": spread, "pairs": pairs}


def redaction(args, inputs, runs):
    """The filter by itself: MiB for each second of user time. Every run is listed: the slowest must do too."""
    path = inputs.mixed()
    command = f"{args.triage} redact --salt bench < {path}"
    measure(command)
    results = [measure(command) for _ in range(runs)]
    size = os.path.getsize(path) / (1 << 20)
    return {"row": "redact", "what": REDACT, "mib_per_user_second": sorted(size / r["user"] for r in results),
            "must": 100, "goal": 130, "peak_mib": max(r["rss"] for r in results), "runs": runs}


def peaks(args, inputs):
    """Peak memory of the whole command at one and at four times the size; more of the same bytes, from a pipe."""
    path = inputs.log("engine")
    return [{"size_mib": (inputs.size * times) >> 20,
             "peak_mib": measure(f"cat {' '.join([path] * times)} | {args.triage} analyze -f json -")["rss"]}
            for times in (1, 4)]


def starts(args, inputs, pairs):
    incident = inputs.small_incident()
    result = {}
    for name, command in (("version", f"{args.triage} --version"), ("four_files", f"{args.triage} analyze {incident}")):
        runs = [measure(command) for _ in range(max(5, pairs))]
        result[name] = {"ms": 1000 * median(runs, "wall"), "cpu_ms": 1000 * median(runs, "cpu")}
    return result


def loads(args, inputs, pairs):
    """What a pack of 1000 rules adds to the analysis of one line, without and with its cache, and what reading the
    built-in rules takes by the tool's own clock."""
    line = Path(inputs.make(inputs.dir / "line.log", lambda p: p.write_text("one line\n")))
    pack = inputs.rules(1000)
    cache = inputs.dir / "cache"
    plain = f"{args.triage} analyze {line}"
    with_pack = f"XDG_CACHE_HOME={cache} {args.triage} analyze --rules {pack} {line}"
    cold, cached, built_in = [], [], []
    for _ in range(max(9, pairs)):
        shutil.rmtree(cache, ignore_errors=True)
        without = measure(plain)["wall"]
        cold.append(measure(with_pack)["wall"] - without)
        cached.append(measure(with_pack)["wall"] - without)
        run = subprocess.run([args.triage, "analyze", "--timings", line], capture_output=True, text=True, check=True)
        built_in.append(float(run.stderr.split("load rules ")[1].split(";")[0]))
    return [{"what": what, "ms": factor * statistics.median(values), "must_ms": must}
            for what, values, factor, must in (("1000 user rules, cold", cold, 1000, 300),
                                               ("1000 user rules, cached", cached, 1000, 50),
                                               ("built-in rules", built_in, 1, 10))]


def split(args, inputs):
    path = inputs.log("engine")
    run = subprocess.run([args.triage, "analyze", "--jobs", "1", "--timings", "-f", "json", path],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    lines = [line for line in run.stderr.splitlines() if line.startswith("timings")]
    return lines[0] if lines else ""


def main():
    args = options()
    inputs = Inputs(args)
    table = rows(args, inputs)
    if args.list:
        return print("\n".join(f"{name:10} {what}" for name, what in [*(r[:2] for r in table), ("redact", REDACT)]))
    unknown = set(args.only) - {r[0] for r in table} - {"redact"}
    if unknown:
        raise SystemExit(f"script/bench: no such row: {', '.join(sorted(unknown))}")
    cores = len(os.sched_getaffinity(0))
    load_before = os.getloadavg()[0]
    results = []
    print(f"{'row':10} {'ratio':>6} {'must':>5} {'goal':>5} {'cpu ratio':>9} {'seconds':>8} {'baseline':>8} {'MiB/s':>6}"
          f" {'peak MiB':>8} {'spread':>6}")
    for row in table:
        if args.only and row[0] not in args.only:
            continue
        r = run_row(row, args.pairs)
        results.append(r)
        verdict = "goal" if r["ratio"] <= r["goal"] else "must" if r["ratio"] <= r["must"] else "MISSED"
        print(f"{r['row']:10} {r['ratio']:6.2f} {r['must']:5.2f} {r['goal']:5.2f} {r['cpu_ratio']:9.2f} {r['seconds']:8.2f}"
              f" {r['baseline_seconds']:8.2f} {r['mib_per_second']:6.0f} {r['peak_mib']:8.1f} {r['baseline_spread']:6.0%}"
              f"  {verdict}", flush=True)
    filtered = None
    if not args.only or "redact" in args.only:
        filtered = redaction(args, inputs, args.pairs)
        rates = filtered["mib_per_user_second"]
        rate = statistics.median(rates)
        verdict = "goal" if rate >= filtered["goal"] else "must" if rate >= filtered["must"] else "MISSED"
        print(f"redact: {rate:.0f} MiB/s of user time, {rates[0]:.0f} to {rates[-1]:.0f} in {len(rates)} runs"
              f" (must {filtered['must']}, goal {filtered['goal']}), peak {filtered['peak_mib']:.1f} MiB  {verdict}")
    report = {"size_mib": args.size >> 20, "cores": cores, "load_before": load_before, "rows": results, "redact": filtered}
    if not args.only:
        report["start"] = starts(args, inputs, args.pairs)
        report["load"] = loads(args, inputs, args.pairs)
        report["peak"] = peaks(args, inputs)
        report["split"] = split(args, inputs)
        for name, r in report["start"].items():
            print(f"cold start, {name}: {r['ms']:.1f} ms ({r['cpu_ms']:.1f} ms of processor)")
        for load in report["load"]:
            print(f"loading, {load['what']}: {load['ms']:.1f} ms (must {load['must_ms']})")
        for peak in report["peak"]:
            print(f"peak memory at {peak['size_mib']} MiB: {peak['peak_mib']:.1f} MiB (must 64, goal 32)")
        print(report["split"])
    noisy = [r["row"] for r in results if r["baseline_spread"] > 0.10]
    report["noisy_rows"] = noisy
    if load_before > 0.5 or noisy:
        print(f"NOISY: load average {load_before:.1f} on {cores} cores before the run; baselines that spread by more"
              f" than 10 %: {', '.join(noisy) or 'none'}. The ratio of processor time is steadier than the wall's.")
    if args.json:
        Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
    return None


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
