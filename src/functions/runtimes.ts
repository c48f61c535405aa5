// The runtimes of this node: Node.js, and each Python that cells can see.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isOfPrograms } from '#cells/root/plan.ts'
import { fault } from '#contract/errors.ts'
import { extensionsOf, runtimeOf } from '#contract/functions/function-limits.ts'
import type { Program } from '#node/program-flags.ts'

const MB = 1_000_000
/** The share of the heap in the memory: the rest is for code, buffers and the runtime itself. */
const HEAP_SHARE = 0.6
const PYTHON_FOLDERS = ['/usr/local/bin', '/usr/bin']
const PYTHON_MINOR_LEAST = 9

/** The program that runs the code, by its runtime; of a language the newest one is first. */
export type Runtimes = ReadonlyMap<string, (memoryBytes: number) => Program>

/** Looks for Pythons in folders of the machine's programs. */
export const findRuntimes = (): Runtimes =>
  new Map([['node24', node24], ...findPythons(PYTHON_FOLDERS)])

export const node24 = (memoryBytes: number): Program => ({
  file: 'functions/runtime/node24.mjs',
  flags: [
    '--single-threaded-gc',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${Math.floor((memoryBytes * HEAP_SHARE) / MB)}`,
  ],
})

/** Neither settings of the machine nor its packages: the standard library alone. */
const PYTHON_FLAGS = ['-I', '-S', '-B', '-X', 'utf8']

function findPythons(folders: readonly string[]): [string, () => Program][] {
  const found = folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder).flatMap((name) => {
      const minor = Number(/^python3\.(\d+)$/.exec(name)?.[1] ?? 0)
      if (minor < PYTHON_MINOR_LEAST || !existsSync(join(folder, name))) return []
      return [{ name, minor, interpreter: realpathSync(join(folder, name)) }]
    }),
  )
  return found
    .filter(
      ({ name, interpreter }) =>
        // Its standard library may be a package of its own.
        isOfPrograms(interpreter) &&
        existsSync(join(dirname(interpreter), '../lib', name, 'asyncio')),
    )
    .toSorted((a, b) => b.minor - a.minor)
    .map(({ name, interpreter }) => [
      name,
      () => ({ interpreter, file: 'functions/runtime/python/main.py', flags: PYTHON_FLAGS }),
    ])
}

/**
 * The runtime of a file: the requested runtime, else that of the version before, else the first that runs such files.
 * Throws runtime_unknown, invalid_request.
 */
export function chooseRuntime(
  runtimes: readonly string[],
  wish: {
    readonly asked?: string | undefined
    readonly before?: string | undefined
    readonly file: string
  },
): string {
  const { asked, before, file } = wish
  const known = asked === undefined ? undefined : runtimeOf(asked)
  if (asked !== undefined && (known === undefined || !runtimes.includes(known)))
    throw fault('runtime_unknown', `Could not run "${asked}"; there are: ${runtimes.join(', ')}`, {
      param: 'runtime',
    })
  const candidates = known === undefined ? [before, ...runtimes] : [known]
  const runtime = candidates.find(
    (one) => one !== undefined && extensionsOf(one).some((end) => file.endsWith(end)),
  )
  if (runtime !== undefined) return runtime
  const ends = candidates.flatMap((one) => (one === undefined ? [] : extensionsOf(one)))
  throw fault(
    'invalid_request',
    `Could not accept file: it must end with ${[...new Set(ends)].join(', ')}`,
    { param: 'file' },
  )
}
