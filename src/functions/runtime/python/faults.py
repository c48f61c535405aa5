"""Errors as the author of the code knows them: at places of the file, without frames of the runtime."""
import traceback

from python.config import config


def shown(error):
    """The traceback from the first frame of the code on, without those of the runtime."""
    whole = traceback.TracebackException.from_exception(error)
    rest = [whole]
    while rest:
        one = rest.pop()
        names = [frame.filename for frame in one.stack]
        del one.stack[:names.index(config['file']) if config['file'] in names else len(names)]
        rest += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
    return ''.join(whole.format()).rstrip()


def failure_of(error):
    """The message, with the place in the file where there is one."""
    file = config['file']
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    is_syntax = isinstance(error, SyntaxError) and error.filename == file
    line = error.lineno if is_syntax else lines[-1] if lines else None
    words = f'{type(error).__name__}: {error.msg if is_syntax else error}'.split('\n')[0]
    return f'{"" if line is None else f"{file}:{line}: "}{words}'[:500]
