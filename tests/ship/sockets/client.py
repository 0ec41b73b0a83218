"""The client of Python's websockets, driven by lines of JSON: what to do on stdin, what happened on stdout."""
import asyncio
import json
import sys

import websockets


def say(**what):
    print(json.dumps(what), flush=True)


async def obey(socket, line):
    order = json.loads(line)
    if "send" in order:
        await socket.send(order["send"])
    elif "pieces" in order:
        await socket.send(iter(order["pieces"]))
    elif "ping" in order:
        await (await socket.ping(order["ping"]))
        say(pong=order["ping"])
    else:
        await socket.close(order["close"])


async def listen(socket):
    try:
        async for message in socket:
            say(**({"text": message} if isinstance(message, str) else {"binary": True}))
    except websockets.ConnectionClosed:
        pass
    say(closed=socket.close_code)


async def main():
    async with websockets.connect(sys.argv[1], subprotocols=["pnh.v1"], max_size=None) as socket:
        say(protocol=socket.subprotocol, extensions=",".join(e.name for e in socket.extensions))
        listening = asyncio.create_task(listen(socket))
        stdin = asyncio.StreamReader(limit=1 << 20)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
        while line := await stdin.readline():
            await obey(socket, line)
        await listening


asyncio.run(main())
