#!/usr/bin/env python3
"""A small Kubernetes API server that replays recorded objects over loopback, for the real kubectl.

    replay_server.py SCENARIO.json PORT_FILE

Serves discovery, get, list (label and field selectors), logs, node log files, the pod proxy and exec over WebSocket
(subprotocol v5.channel.k8s.io). Texts of the scenario may be given as {"file": PATH}. Writes its port to PORT_FILE.
Python 3 standard library only. The scenario:

    pods, nodes, events      lists of objects
    objects                  {path of the collection: [objects]}, e.g. /apis/apps/v1/replicasets
    logs, previous           {"ns/pod/container": text}
    proxy                    {"ns/pod:port/path": text}, texts or {"status": 503, "body": ""}
    node_logs                {"node/pods/ns_pod_uid/container/0.log": text}
    debug_exec               the same for the pods that kubectl debug makes; deleted ones are listed in PORT_FILE.deleted
    exec                     {"ns/pod": {"command line": {"stdout": "", "stderr": "", "code": 0, "hang": 1}}}
    faults                   [{"path": regex, "do": "forbid|missing|hang|garbage|die|gone", "after": N}]
"""
import base64
import hashlib
import json
import os
import re
import struct
import sys
import threading
import time
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

CORE = [("pods", "Pod", True, ["po"]), ("nodes", "Node", False, ["no"]), ("events", "Event", True, ["ev"]),
        ("services", "Service", True, ["svc"]), ("resourcequotas", "ResourceQuota", True, ["quota"]),
        ("limitranges", "LimitRange", True, ["limits"]), ("persistentvolumeclaims", "PersistentVolumeClaim", True, ["pvc"])]
GROUPS = {
    "apps/v1": [("deployments", "Deployment", True, ["deploy"]), ("replicasets", "ReplicaSet", True, ["rs"]),
                ("statefulsets", "StatefulSet", True, ["sts"]), ("daemonsets", "DaemonSet", True, ["ds"])],
    "batch/v1": [("jobs", "Job", True, [])],
    "discovery.k8s.io/v1": [("endpointslices", "EndpointSlice", True, [])],
    "coordination.k8s.io/v1": [("leases", "Lease", True, [])],
    "authorization.k8s.io/v1": [("selfsubjectrulesreviews", "SelfSubjectRulesReview", False, [])],
    "ai.flexinfer/v1alpha2": [("models", "Model", True, [])],
    "leaderworkerset.x-k8s.io/v1": [("leaderworkersets", "LeaderWorkerSet", True, ["lws"])],
}


def text_of(value):
    if isinstance(value, dict) and "file" in value:
        with open(value["file"], "rb") as file:
            return file.read()
    return value if isinstance(value, bytes) else str(value).encode()


def resource_list(group_version, rows):
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": [
        {"name": n, "singularName": k.lower(), "namespaced": ns, "kind": k, "shortNames": short,
         "verbs": ["get", "list", "create"]} for n, k, ns, short in rows]}


LOGGERS_TIME = re.compile(rb"(?:(\d{4})-)?(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)")
GLOGS_TIME = re.compile(rb"\[?[IWEF](\d\d?)(\d\d) (\d\d):(\d\d):(\d\d)")
BARS_TIME = re.compile(rb"\[(?:(\d+):)?(\d\d):(\d\d)<")


def loggers_time(line, year):
    own = LOGGERS_TIME.search(line[:96])
    glog = None if own else GLOGS_TIME.match(line)
    try:
        if glog:
            return datetime(year, *(int(part) for part in glog.groups()))
        return own and datetime(int(own[1] or year), *(int(own[part]) for part in range(2, 7)))
    except ValueError:
        return None


def bars_time(line):
    bar = BARS_TIME.search(line)
    return bar and timedelta(hours=int(bar[1] or 0), minutes=int(bar[2]), seconds=int(bar[3]))


def stamped(body, fixed_time, year):
    """Lines as a runtime stamps them: by the time that their logger prints or that a progress bar counts from there,
    else that of the line before. What stands before the first time was written shortly before it. Loggers often leave
    out the year, which the incident's other files may tell."""
    lines = body.split(b"\n")
    began = datetime.fromisoformat(fixed_time or "2026-01-12T08:00:00")
    if not fixed_time:
        first = next((i for i, line in enumerate(lines) if loggers_time(line, year)), None)
        if first is not None:
            head = max((bars_time(line) or timedelta(0) for line in lines[:first]), default=timedelta(0))
            began = loggers_time(lines[first], year) - head
    time = began
    out = []
    for i, line in enumerate(lines):
        own = None if fixed_time else loggers_time(line, year)
        bar = None if fixed_time or own else bars_time(line)
        if own:
            began = time = own
        elif bar is not None:
            time = began + bar
        stamp = f"{time.isoformat()}.{i % 10**9:09d}Z ".encode()
        out.append(stamp + line if line or i + 1 < len(lines) else line)
    return b"\n".join(out)


class Scenario:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.hits = {}
        self.lock = threading.Lock()

    def fault(self, path):
        for index, fault in enumerate(self.data.get("faults", [])):
            if re.search(fault["path"], path):
                with self.lock:
                    self.hits[index] = self.hits.get(index, 0) + 1
                    if self.hits[index] > fault.get("after", 0):
                        return fault["do"]
        return None

    def collection(self, resource, group=""):
        if not group and resource in ("pods", "nodes", "events"):
            return self.data.get(resource, [])
        for path, objects in self.data.get("objects", {}).items():
            if path.rstrip("/").endswith("/" + resource) and (not group or group in path):
                return objects
        return []


def selected(item, query):
    labels = item["metadata"].get("labels", {})
    for selector in query.get("labelSelector", []):
        for term in selector.split(","):
            key, _, value = term.partition("=")
            if labels.get(key.strip()) != value.strip("= "):
                return False
    for selector in query.get("fieldSelector", []):
        for term in selector.split(","):
            key, _, value = term.partition("=")
            found = item
            for part in key.split("."):
                found = found.get(part, {}) if isinstance(found, dict) else {}
            if key == "metadata.namespace" or value == "":
                continue
            if str(found if found != {} else "") != value:
                return False
    return True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scenario = None

    def log_message(self, *_):
        pass

    def send(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def status(self, code, reason, message):
        self.send(code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason,
                         "message": message, "code": code})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        made = re.search(rb"node-debugger-[a-z0-9-]+", body)
        if self.path.split("?")[0].endswith("/pods") and made:
            name = made.group().decode()
            pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": self.path.split("/")[4]},
                   "spec": {"containers": [{"name": "debugger"}]}, "status": {"phase": "Running"}}
            self.scenario.data["pods"].append(pod)
            self.scenario.data.setdefault("exec", {})[f"{self.path.split('/')[4]}/{name}"] = self.scenario.data.get("debug_exec", {})
            return self.send(201, pod)
        if "selfsubjectrulesreviews" in self.path:
            return self.send(201, {"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
                                   "spec": {}, "status": {"resourceRules": [{"verbs": ["get"], "apiGroups": [""],
                                                          "resources": ["pods"]}], "nonResourceRules": [], "incomplete": False}})
        self.status(405, "MethodNotAllowed", "the server is read-only")

    def do_DELETE(self):
        name = self.path.split("?")[0].rsplit("/", 1)[1]
        pods = self.scenario.data["pods"]
        self.scenario.data["pods"] = [p for p in pods if p["metadata"]["name"] != name]
        with open(sys.argv[2] + ".deleted", "a", encoding="utf-8") as file:
            file.write(name + "\n")
        self.send(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})

    def do_GET(self):
        url = urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query)
        fault = self.scenario.fault(path)
        if fault == "forbid":
            return self.status(403, "Forbidden", f'"{path}" is forbidden: User "dev" cannot get it')
        if fault in ("missing", "gone"):
            return self.status(404, "NotFound", f'"{path.split("/")[-1]}" not found')
        if fault == "hang":
            time.sleep(120)
            return None
        if fault == "garbage":
            return self.send(200, b"\x00\xff<html>certainly no API\x80", "text/html")
        if fault == "die":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"kind\": ")
            self.wfile.flush()
            self.connection.close()
            return None
        parts = [p for p in path.split("/") if p]
        if path == "/version":
            return self.send(200, {"major": "1", "minor": "31", "gitVersion": "v1.31.4"})
        if path == "/api":
            return self.send(200, {"kind": "APIVersions", "versions": ["v1"]})
        if path == "/api/v1":
            return self.send(200, resource_list("v1", CORE))
        if path == "/apis":
            return self.send(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": g.split("/")[0], "versions": [{"groupVersion": g, "version": g.split("/")[1]}],
                 "preferredVersion": {"groupVersion": g, "version": g.split("/")[1]}} for g in GROUPS]})
        if len(parts) == 3 and parts[0] == "apis":
            group = "/".join(parts[1:])
            if group in GROUPS:
                return self.send(200, resource_list(group, GROUPS[group]))
            return self.status(404, "NotFound", "the server could not find the requested resource")
        if parts[:2] == ["api", "v1"]:
            return self.core(parts[2:], query, path)
        if parts[:1] == ["apis"] and len(parts) > 3:
            return self.objects(parts[3:], query, "/".join(parts[1:3]))
        return self.status(404, "NotFound", "the server could not find the requested resource")

    def core(self, parts, query, path):
        if parts[0] == "nodes" and len(parts) > 3 and parts[2] == "proxy":
            return self.node_logs(parts[1], "/".join(parts[4:]))
        if parts[0] == "namespaces" and len(parts) > 4 and parts[2] == "pods":
            where = f"{parts[1]}/{parts[3]}"
            if parts[4] == "log":
                return self.log(where, query)
            if parts[4] == "exec":
                return self.exec(where, query)
            if parts[4] == "proxy":
                return self.proxy(where, "/".join(parts[5:]))
        return self.objects(parts, query, "v1")

    def objects(self, parts, query, version):
        namespace = None
        if parts[0] == "namespaces" and len(parts) > 2:
            namespace, parts = parts[1], parts[2:]
        resource = parts[0]
        group = version.split("/")[0] if "/" in version else ""
        items = [i for i in self.scenario.collection(resource, group)
                 if namespace is None or i["metadata"].get("namespace", namespace) == namespace]
        kinds = {n: k for rows in [CORE, *GROUPS.values()] for n, k, _, _ in rows}
        kind = kinds.get(resource, "Object")
        for item in items:
            item.setdefault("kind", kind)
            item.setdefault("apiVersion", version)
        if len(parts) > 1:
            for item in items:
                if item["metadata"]["name"] == parts[1]:
                    return self.send(200, item)
            return self.status(404, "NotFound", f'{resource} "{parts[1]}" not found')
        return self.send(200, {"kind": kind + "List", "apiVersion": version, "metadata": {"resourceVersion": "1"},
                               "items": [i for i in items if selected(i, query)]})

    def log(self, where, query):
        container = query.get("container", [""])[0]
        previous = query.get("previous", ["false"])[0] == "true"
        store = self.scenario.data.get("previous" if previous else "logs", {})
        value = store.get(f"{where}/{container}")
        if value is None:
            what = f'previous terminated container "{container}" in pod "{where.split("/")[1]}" not found' if previous \
                else f'container "{container}" in pod "{where.split("/")[1]}" is waiting to start: ContainerCreating'
            return self.status(400, "BadRequest", what)
        body = text_of(value)
        if query.get("timestamps", ["false"])[0] == "true" and not re.match(rb"\d{4}-\d\d-\d\dT", body):
            body = stamped(body, self.scenario.data.get("log_time"), self.scenario.data.get("log_year", 2026))
        return self.send(200, body, "text/plain")

    def proxy(self, where, path):
        value = self.scenario.data.get("proxy", {}).get(f"{where}/{path}")
        if value is None:
            return self.status(503, "ServiceUnavailable", "error trying to reach service: dial tcp: connection refused")
        if isinstance(value, dict) and "status" in value:
            return self.send(value["status"], value.get("body", "").encode(), "text/plain")
        return self.send(200, text_of(value), "text/plain")

    def node_logs(self, node, path):
        logs = self.scenario.data.get("node_logs", {})
        if path.endswith("/") or not any(k == f"{node}/{path}" for k in logs):
            names = [k.rsplit("/", 1)[1] for k in logs if k.rsplit("/", 1)[0] == f"{node}/{path}".rstrip("/")]
            if not names:
                return self.status(404, "NotFound", "no such log directory")
            return self.send(200, ("<pre>\n" + "".join(f'<a href="{n}">{n}</a>\n' for n in names)).encode(), "text/html")
        return self.send(200, text_of(logs[f"{node}/{path}"]), "text/plain")

    # --- exec over WebSocket ---
    def frame(self, payload):
        header = b"\x82"
        if len(payload) < 126:
            header += struct.pack("!B", len(payload))
        elif len(payload) < 65536:
            header += struct.pack("!BH", 126, len(payload))
        else:
            header += struct.pack("!BQ", 127, len(payload))
        self.wfile.write(header + payload)
        self.wfile.flush()

    def exec(self, where, query):
        if self.headers.get("Upgrade", "").lower() != "websocket":
            return self.status(400, "BadRequest", "only WebSocket is served here")
        command = " ".join(query.get("command", []))
        known = self.scenario.data.get("exec", {}).get(where, {})
        answer = known.get(command)
        if answer is None:
            for pattern, value in known.items():
                if pattern.startswith("~") and re.search(pattern[1:], command):
                    answer = value
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.wfile.write((f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n").encode())
        self.wfile.flush()
        if answer is None:
            program = query.get("command", ["?"])[0]
            answer = {"stderr": f'OCI runtime exec failed: exec failed: unable to start container process: exec: "{program}": '
                                f"executable file not found in $PATH: unknown\n", "code": 126}
        if answer.get("hang"):
            time.sleep(120)
        # A program takes a moment to start; kubectl throws away what comes before its streams are ready.
        time.sleep(0.25)
        for offset in range(0, len(text_of(answer.get("stdout", ""))), 8192):
            self.frame(b"\x01" + text_of(answer["stdout"])[offset:offset + 8192])
        if answer.get("stderr"):
            self.frame(b"\x02" + answer["stderr"].encode())
        code = answer.get("code", 0)
        status = {"metadata": {}, "status": "Success"} if code == 0 else {
            "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
            "message": f"command terminated with non-zero exit code: exit code {code}",
            "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}
        self.frame(b"\x03" + json.dumps(status).encode())
        self.wfile.write(b"\x88\x02\x03\xe8")
        self.wfile.flush()
        self.close_connection = True
        return None


def main():
    Handler.scenario = Scenario(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(sys.argv[2] + ".new", "w", encoding="utf-8") as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    parent = os.getppid()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    while os.getppid() == parent:  # ends with the test that started it
        time.sleep(0.2)


if __name__ == "__main__":
    main()
