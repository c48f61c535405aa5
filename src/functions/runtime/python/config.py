"""The line that the agent writes on a descriptor of every cell. The code does not get the descriptor."""
import json
import os

CONFIG = 3


def read_config():
    parts = []
    while not (parts and parts[-1].endswith(b'\n')):
        parts.append(os.read(CONFIG, 65_536))
        if not parts[-1]:
            os._exit(1)
    os.close(CONFIG)
    return json.loads(b''.join(parts))


config = read_config()
