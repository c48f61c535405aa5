// Runs a program once as a cell, and reports its lines, its end and its CPU. It works in the process of a test, and as a
// program of a user without privileges:
//   node run-once.ts '{"level":"userns","argv":["/bin/true"],"root":{}}'   prints the report as one JSON line
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { systemClock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import type { Cell, Cells, CellSpec, Exit, Isolation } from '#cells/cell.ts'
import { findCgroups, removeFolder } from '#cells/cgroup.ts'
import { createCells } from '#cells/create-cells.ts'
import { OWN_ARCHITECTURE, syscallNumbers } from '#cells/syscalls/numbers.ts'
import { echoSpec, eventually, place } from './harness.ts'

export type RunOptions = Pick<CellSpec, 'argv'> &
  Partial<Pick<CellSpec, 'root' | 'reads' | 'limits'>> & {
    readonly level: Isolation['level']
    readonly meter?: Isolation['meter']
    /** It runs in the process of a spare. */
    readonly inSpare?: boolean
  }

export type RunReport = {
  readonly lines: readonly string[]
  readonly exit: Exit | undefined
  readonly cpuMs: number
  readonly isolation: Isolation
}

const RUN_MAX_MS = 120_000

const PERL = '/usr/bin/perl'
/** Waits for a config as a spare does, and becomes the program. */
const WAIT = [PERL, '-e', 'open my $config, "<&=", 3; <$config>; exec @ARGV'] as const

export async function runOnce({ level, meter, inSpare, ...spec }: RunOptions): Promise<RunReport> {
  const where = place({ level, ...(meter && { meter }) })
  const cells = await createCells(where)
  await using ends = new AsyncDisposableStack()
  ends.defer(() => rmSync(where.root, { recursive: true }))
  ends.defer(() => cells.close())
  const lines: string[] = []
  const once: CellSpec = echoSpec(where, {
    name: 'once',
    environment: { PATH: '/usr/bin:/bin' },
    config: null,
    writes: [],
    ready: { probe: () => new Promise(() => undefined), timeoutMs: RUN_MAX_MS },
    restart: { delaysMs: [RUN_MAX_MS], steadyMs: RUN_MAX_MS },
    output: ({ text }) => void lines.push(text),
    ...spec,
  })
  const cell = inSpare === true ? await startInSpare(cells, once) : await cells.start(once)
  // Without a cgroup, the end of a process tree is noticed when its CPU is read.
  const ended = () => cell.cpuNs() < 0n || cell.exits.length > 0
  await eventually(ended, { limitMs: RUN_MAX_MS, everyMs: 20 })
  const exit = cell.exits[0]
  await cells.close()
  return { lines, exit, cpuMs: Number(cell.cpuNs()) / 1e6, isolation: cells.isolation }
}

async function startInSpare(cells: Cells, spec: CellSpec): Promise<Cell> {
  const spare = await cells.start({
    ...spec,
    name: 'spare',
    isSpare: true,
    argv: [...WAIT, ...spec.argv],
    ready: { probe: async (socket) => void (await access(socket)), timeoutMs: RUN_MAX_MS },
  })
  await spare.ready()
  const cell = cells.assign(spare, spec)
  invariant(cell !== undefined, 'The spare is ready')
  return cell
}

/**
 * The same by a process of its own: of root, or for a level that needs no privilege of a user that owns a control group, as
 * the session of a user does.
 */
export async function runApart(options: RunOptions, inherited?: string): Promise<RunReport> {
  const program = [process.execPath, import.meta.filename, JSON.stringify(options)]
  if (options.level === 'root')
    return JSON.parse(await runInheriting(program, inherited)) as RunReport
  await using user = userWithGroup()
  return JSON.parse(await runInheriting([...user.become, ...program], inherited)) as RunReport
}

/** The command before a program that is to run as a user with a control group, which goes at the end with all in it. */
export function userWithGroup(): { readonly become: readonly string[] } & AsyncDisposable {
  const { unified } = findCgroups()
  const group = join(unified ?? '', `ergon-test-${process.pid}`)
  mkdirSync(group)
  const enter = 'chown -R 65534 "$0" && echo $$ > "$0/cgroup.procs" && exec "$@"'
  const become = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  return {
    become: ['sh', '-c', enter, group, ...become],
    async [Symbol.asyncDispose]() {
      const folders = readdirSync(group, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name))
      for (const folder of [group, ...folders].toReversed()) await removeFolder(folder, systemClock)
    },
  }
}

/** Node closes descriptors near the standard ones for its children, and this one not. */
const INHERITED = 99

/**
 * Becomes a program in a terminal of its own, which the program has inherited as descriptor 98 too. The numbers are those of
 * Linux: TIOCSPTLCK, TIOCGPTN, TIOCSCTTY.
 */
const IN_TERMINAL = `$^F = 200; setpgrp; open my $master, '+<', '/dev/ptmx' or die; ioctl $master, 0x40045431, my $unlocked = pack 'i', 0;
ioctl $master, 0x80045430, my $number = pack 'i', 0; fork and do { wait; exit($? >> 8) };
syscall ${syscallNumbers(OWN_ARCHITECTURE).get('setsid')}; my $path = '/dev/pts/' . unpack 'i', $number;
open my $terminal, '+<', $path or die; ioctl $terminal, 0x540e, 0;
syscall ${syscallNumbers(OWN_ARCHITECTURE).get('dup3')}, fileno $terminal, 98, 0; close $terminal; exec @ARGV`

/** The output of a program that has inherited an open file as descriptor 99, and runs in a terminal. */
export async function runInheriting(
  words: readonly string[],
  inherited = '/dev/null',
): Promise<string> {
  const descriptor = openSync(inherited, 'r')
  const stdio = [...Array.from({ length: INHERITED }, () => null), descriptor]
  const child = spawn(PERL, ['-e', IN_TERMINAL, '--', ...words], {
    stdio: ['ignore', 'pipe', 'inherit', ...stdio.slice(3)],
  })
  closeSync(descriptor)
  invariant(child.stdout !== null, 'It has a pipe for its output')
  return await text(child.stdout)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const report = await runOnce(JSON.parse(process.argv[2] ?? '{}') as RunOptions)
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
