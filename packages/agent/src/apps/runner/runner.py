# The process of one invocation of a Python app; see main.ts, which is the same for Node.
import asyncio
import importlib.util
import inspect
import json
import os
import socket
import struct
import sys
import traceback

READY, INVOKE, PAYLOAD, RESULT, FAILURE = 1, 2, 3, 4, 5
MAX_FRAME_BYTES = 5_000_000

entry, root = sys.argv[1], sys.argv[2]
channel = socket.socket(fileno=3)


def say(kind, text):
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_FRAME_BYTES:
        raise ValueError(f"The result has {len(data)} bytes, and at most {MAX_FRAME_BYTES} are taken")
    channel.sendall(struct.pack(">BI", kind, len(data)) + data)


def receive(count):
    data = b""
    while len(data) < count:
        piece = channel.recv(min(count - len(data), 1 << 20))
        if not piece:
            os._exit(1)
        data += piece
    return data


def hear():
    kind, length = struct.unpack(">BI", receive(5))
    return kind, receive(length)


def registries():
    for name, module in list(sys.modules.items()):
        if name.rpartition(".")[2] == "app_framework" and hasattr(module, "app_registry"):
            yield module, module.app_registry


def run():
    sys.path[:0] = [os.path.dirname(entry), root]
    name = os.path.splitext(os.path.basename(entry))[0]
    spec = importlib.util.spec_from_file_location(name, entry)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found = list(registries())
    if not found:
        raise RuntimeError("It imports no copy of the client (kernel), so it has no app")
    apps = []
    for _, registry in found:
        for app in registry.get_apps():
            apps.append({"name": app.name, "actions": [{"name": action.name} for action in app.get_actions()]})
    say(READY, json.dumps({"apps": apps}))
    _, data = hear()
    order = json.loads(data)
    payload = json.loads(hear()[1]) if order["hasPayload"] else None
    for framework, registry in found:
        app = registry.get_app_by_name(order["app"])
        action = app.get_action(order["action"]) if app else None
        if action is None:
            continue
        result = action.handler(framework.KernelContext(invocation_id=order["id"]), payload)
        if inspect.isawaitable(result):
            async def wait():
                return await result
            result = asyncio.run(wait())
        return json.dumps(result, allow_nan=False)
    raise RuntimeError(f"The app \"{order['app']}\" has no action \"{order['action']}\"")


try:
    output = run()
    sys.stdout.flush()
    say(RESULT, output)
    code = 0
except BaseException as error:
    traceback.print_exc()
    say(FAILURE, f"{type(error).__name__}: {error}"[:16000])
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
