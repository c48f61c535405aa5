// Starts one life of a cell. The chain of small programs is data (`planCommand`), the scripts in it are
// constants: names and paths of a spec reach a shell only as arguments.
//
//   sh JOIN     enters the cgroups, so that no CPU of what follows is lost
//   prlimit     open files, memory of each process, no core dumps
//   setpriv     SIGKILL when the agent dies (in `plain` the uid too: a later change would erase it)
//   unshare     new mount, pid and ipc namespaces; SIGKILL for its child, their pid 1, when it dies
//   sh VIEW     mounts (view.ts), as root of the namespace
//   setpriv     uid, groups, no capabilities, no new privileges; then the signal of death again,
//               as a change of uid erases it (prctl(2), PR_SET_PDEATHSIG)
//   perl        loads the filter of system calls, for code of tenants (syscalls/)
//   sh INIT     as pid 1: asks the agent for leave, sets the environment, starts the program, reaps
//               orphans
//
// In a cell with a root folder of its own, enter.pl replaces everything after unshare (root/).
//
// The agent may die before the first signal of death is armed, and unshare before the last one (seen once in
// about 100 kills in the middle of a start). So INIT writes to fd 3 when all signals are armed, and goes on only
// when the agent answers: EOF means a dead agent.
import { type ChildProcess, spawn } from 'node:child_process'
import { constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { isMainThread } from 'node:worker_threads'

import { invariant, messageOf } from '#base/errors.ts'
import { baseFault } from '#base/own-errors.ts'

import type { CellSpec, Isolation, LifeOutputs, StartedLife } from './cell.ts'
import { VIEW_SCRIPT } from './view.ts'

export type CellUser = {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

export type LaunchPlan = {
  readonly level: Isolation['level']
  /** Absolute paths of the programs that the chain is made of. */
  readonly tools: Tools
  /** Undefined: the cell runs as the agent's own user. */
  readonly identity: CellUser | undefined
  /** cgroup.procs files. */
  readonly joins: readonly string[]
  /** Before a program of a tenant; empty where the machine cannot filter. */
  readonly filter: readonly string[]
  /** The arguments of VIEW_SCRIPT; not used in `plain`. */
  readonly view: readonly string[]
  /** The command of a cell with a root folder of its own, up to its program. */
  readonly enter: readonly string[] | undefined
  /** The folder in which enter.pl makes FIFOs as the outputs of the program. */
  readonly outputs?: string
  /** True where `limits.processes` must be an rlimit, which counts per uid. */
  readonly rlimitProcesses: boolean
  /** Uid and gid of the agent, which a user namespace maps back to. */
  readonly agent: { readonly uid: number; readonly gid: number }
}

export const TOOL_NAMES = ['sh', 'env', 'prlimit', 'setpriv', 'unshare'] as const
export type Tools = Readonly<Record<(typeof TOOL_NAMES)[number], string>>

export type StartedProcess = LifeOutputs & {
  readonly child: ChildProcess
  readonly pid: number | undefined
  readonly program: Promise<LifeOutputs>
  readonly configure: NonNullable<StartedLife['configure']>
}

const JOIN_SCRIPT = `while [ "$1" != -- ]; do echo $$ > "$1" || exit 71; shift; done; shift; exec "$@"`

// The variables arrive under names of ours, so that an LD_PRELOAD of a tenant means nothing to the
// programs before this one, which are root, and not as arguments, which every user could read.
const BEGIN = `echo >&3; read -r leave <&3 || exit 70
umask 007
while [ "$1" != -- ]; do eval "export $1=\\"\\$cell_$1\\""; unset "cell_$1"; shift; done
shift
`
// As pid 1 a program would ignore every signal that it has no handler for (pid_namespaces(7)) and would
// have to reap orphans. So the shell stays pid 1; its SIGTERM handling never matters, as it gets none.
// The shell has no stderr then: it would report a program that a signal ended, and the exit status does.
const INIT_SCRIPT = `${BEGIN}exec 4>&2 2>/dev/null; (exec "$@" 2>&4 4>&-); exit $?`
/** The third argument after the shell, which tells our init from the programs before it. */
export const INIT_NAME = 'init'
/** The name of enter.pl in the list of processes, once it is the pid 1 of its cell. */
export const ROOT_INIT_NAME = 'cell-init'
const EXEC_SCRIPT = `${BEGIN}exec "$@"`

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
// Shells set or guard these themselves.
const SHELL_VARIABLES = ['_', 'PWD', 'OLDPWD', 'SHLVL']
const REFUSED = new Set([...SHELL_VARIABLES, 'IFS', 'PPID', 'UID', 'EUID', 'GROUPS', 'OPTIND'])

/** Starts the process of a plan, the leader of a new session. Must be called on the main thread. */
export function startProcess(spec: CellSpec, plan: LaunchPlan): StartedProcess {
  // The signal of death comes when the *thread* that forked ends, not the process.
  invariant(isMainThread, 'Cells must be started from the main thread')
  const [file, ...args] = planCommand(spec, plan)
  const child = spawn(file, args, {
    cwd: '/',
    env: planEnvironment(spec),
    // Pid 1 of a spare gets its ticket there.
    stdio: [spec.isSpare === true ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    // A session of its own: Ctrl-C at the terminal is for the agent, which stops cells in order.
    detached: true,
  })
  const [, stdout, stderr, config] = child.stdio
  invariant(stdout !== null && stderr !== null, 'A cell has pipes for its output')
  child.once('exit', () => config?.destroy())
  const program = Promise.withResolvers<LifeOutputs>()
  const begin = () => {
    if (plan.outputs === undefined) return true
    try {
      program.resolve(openOutputs(plan.outputs))
      return true
    } catch (error) {
      stderr.unshift(`ergon: cannot start: no output: ${messageOf(error)}\n`)
      return false
    }
  }
  const configure = configureBy(config as Duplex, child.stdin, begin)
  return { child, pid: child.pid, stdout, stderr, program: program.promise, configure }
}

function openOutputs(folder: string): LifeOutputs {
  const stdout = openOutput(join(folder, 'stdout'))
  try {
    return { stdout, stderr: openOutput(join(folder, 'stderr')) }
  } catch (error) {
    stdout.destroy()
    throw error
  }
}

/** Nobody opens a FIFO without a name. */
function openOutput(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  unlinkSync(path)
  // While the stream rests the FIFO keeps its bytes, so the next read has all of them. With a larger buffer single bytes
  // would be read one by one meanwhile, and a writer of lines would wait.
  const options = { fd, readable: true, writable: false, highWaterMark: 1 }
  return new Socket(options)
}

/**
 * The process says a line on fd 3 when it is ready to start the program, and waits for the answer. The config, and the
 * ticket of a spare, follow at once or later. Without `begin` the process is refused, and ends.
 */
function configureBy(
  pipe: Duplex,
  tickets: Writable | null,
  begin: () => boolean,
): StartedProcess['configure'] {
  let isAsked = false
  let line = ''
  // The pipe breaks when the cell ends before it has read; its exit says why.
  pipe.on('error', () => pipe.destroy())
  tickets?.on('error', () => tickets.destroy())
  pipe.once('data', () => {
    if (!begin()) return void pipe.destroy()
    isAsked = true
    pipe.write(`\n${line}`)
    // A program has nothing to say there: what it writes is not read.
    pipe.pause()
  })
  return (config, ticket) => {
    tickets?.end(`${ticket ?? ''}\n`)
    line = `${JSON.stringify(config)}\n`
    if (isAsked) pipe.write(line)
  }
}

/** The command line of a life: see the head of this file. */
export function planCommand(spec: CellSpec, plan: LaunchPlan): [string, ...string[]] {
  const { tools } = plan
  const dieWithParent = ['--pdeathsig', 'KILL', '--']
  const join = [tools.sh, '-c', JOIN_SCRIPT, 'join', ...plan.joins, '--']
  const limit = [tools.prlimit, ...resourceLimits(spec, plan)]
  const arm = [tools.setpriv, ...dieWithParent]
  const unshare = [tools.unshare, ...namespaces(spec, plan.level), '--']
  if (plan.enter !== undefined)
    return [join, limit, arm, unshare, plan.enter, spec.container ? [] : spec.argv].flat() as [
      string,
      ...string[],
    ]
  const view = [tools.sh, '-c', VIEW_SCRIPT, 'view', ...plan.view, '--']
  const become = [tools.setpriv, ...privileges(plan.identity), ...dieWithParent]
  const filter = spec.syscalls === 'tenant' ? plan.filter : []
  const script = plan.level === 'plain' ? EXEC_SCRIPT : INIT_SCRIPT
  const variables = [...Object.keys(spec.environment), '--']
  const init = [tools.sh, '-c', script, INIT_NAME, ...variables]
  const program = [...cleanedEnvironment(spec, tools), ...spec.argv]
  const ownUser = [tools.unshare, '--user', ...mapTo(plan.agent), '--']
  const chain = {
    root: [join, limit, arm, unshare, view, become, filter, init, program],
    userns: [join, limit, arm, unshare, view, ownUser, become, filter, init, program],
    plain: [join, limit, become, filter, init, program],
  }
  return chain[plan.level].flat() as [string, ...string[]]
}

export function namespaces(
  { root, network, container }: Pick<CellSpec, 'root' | 'network' | 'container'>,
  level: LaunchPlan['level'],
): string[] {
  const flags = ['--mount', '--pid', '--ipc', '--fork', '--kill-child=KILL']
  if (level === 'userns') flags.push('--user', '--map-root-user')
  if (network === 'none' || root !== undefined) flags.push('--net')
  const isEntered = root !== undefined || container !== undefined
  flags.push(...(isEntered ? ['--uts', '--cgroup'] : ['--mount-proc']))
  return flags
}

/** Throws a TypeError for a spec that cannot be started as it is meant. */
export function checkCommand(spec: CellSpec): void {
  const [file] = spec.argv
  const isShell = spec.root === undefined
  if (isShell && (!file.startsWith('/') || file.includes('=')))
    throw new TypeError(`The program of a cell must be an absolute path without "=": ${file}`)
  if (!isShell && spec.writes.length > 0)
    throw new TypeError(`A cell with a root folder of its own owns no folder: ${spec.name}`)
  for (const [name, value] of Object.entries(spec.environment)) {
    if (isShell ? !VARIABLE.test(name) || REFUSED.has(name) : /^$|[=\0]/.test(name))
      throw new TypeError(`Not a name for a variable of a cell: ${name}`)
    if (value.includes('\0')) throw new TypeError(`A variable of a cell holds a NUL: ${name}`)
  }
  if (spec.argv.some((argument) => argument.includes('\0')))
    throw new TypeError(`An argument holds a NUL: ${spec.name}`)
}

/** Half of Linux's limit where a stack has 8 MiB. execve(2). */
export const COMMAND_BYTES_MAX = 1_048_576
/** One word or variable, without the NUL behind it. */
const WORD_BYTES_MAX = 131_071
const POINTER_BYTES = 8

/** Throws image_unsupported for words and variables that no process can be started with. */
export function checkCommandSize(spec: CellSpec, enter: readonly string[]): void {
  const variables = Object.entries(planEnvironment(spec)).map(([name, value]) => `${name}=${value}`)
  const sizes = [...enter, ...spec.argv, ...variables].map((word) => Buffer.byteLength(word))
  const bytes = sizes.reduce((sum, size) => sum + size + 1 + POINTER_BYTES, 0)
  const isFit = bytes <= COMMAND_BYTES_MAX && sizes.every((size) => size <= WORD_BYTES_MAX)
  if (!isFit)
    throw baseFault(
      'image_unsupported',
      `Could not start the program: its mounts, arguments and variables have ${bytes} bytes, and may have ${COMMAND_BYTES_MAX} together and ${WORD_BYTES_MAX} each`,
    )
}

function privileges(identity: CellUser | undefined): string[] {
  if (identity === undefined) return ['--no-new-privs']
  const { uid, gid, groups } = identity
  const membership = groups.length === 0 ? '--clear-groups' : `--groups=${groups.join()}`
  const none = ['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs']
  return [`--reuid=${uid}`, `--regid=${gid}`, membership, ...none]
}

const mapTo = (agent: LaunchPlan['agent']) => [
  `--map-user=${agent.uid}`,
  `--map-group=${agent.gid}`,
]

function resourceLimits({ limits }: CellSpec, plan: LaunchPlan): string[] {
  const { files, processes, processMemoryBytes } = limits
  return [
    // A core dump would put keys and tenants' data on disk.
    '--core=0',
    // enter.pl limits its program alone, as its own connections need descriptors too.
    ...(files === undefined || plan.enter !== undefined ? [] : [`--nofile=${files}`]),
    ...(processMemoryBytes === undefined ? [] : [`--data=${processMemoryBytes}`]),
    ...(processes === undefined || !plan.rlimitProcesses ? [] : [`--nproc=${processes}`]),
  ]
}

function planEnvironment({ environment, root, container }: CellSpec): Record<string, string> {
  // A shell on the way drops names that are none of its own variables; an image may have them.
  const named = (name: string) => (root === undefined ? name : Buffer.from(name).toString('hex'))
  const outlet = root?.outlet ?? container?.outlet
  const renamed = Object.entries(environment).map(([name, value]) => [`cell_${named(name)}`, value])
  return {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    // Every user of the machine can read arguments.
    ...(outlet?.ticket !== undefined && { ticket: outlet.ticket }),
    ...Object.fromEntries(renamed),
  }
}

/** env(1) takes away what the shells before it have set. */
function cleanedEnvironment(spec: CellSpec, tools: Tools): string[] {
  const ours = [...SHELL_VARIABLES, ...('PATH' in spec.environment ? [] : ['PATH'])]
  return [tools.env, ...ours.flatMap((name) => ['-u', name])]
}
