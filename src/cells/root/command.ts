// The command that becomes the pid 1 of a cell with a root folder of its own, up to the words of its program.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { syscallFilter } from '#cells/syscalls/filter.ts'
import { OWN_ARCHITECTURE } from '#cells/syscalls/numbers.ts'
import type { CellOutlet, CellRoot } from '#cells/cell.ts'
import { planRoot } from './plan.ts'

export type EnterCommand = {
  readonly perl: string
  readonly root: CellRoot
  readonly name: string
  /** The user of the cell, where the agent can give it one. */
  readonly identity:
    | { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }
    | undefined
  /** Where the cell's socket is made; none where it is only tried whether such cells can be. */
  readonly socket?: string
  readonly stage: string
  readonly reads: readonly string[]
  readonly files?: number | undefined
}

/** The relay from a socket to a port in the network of a container, which another program has started. */
export function relayCommand({
  perl,
  process: member,
  port,
  socket,
  outlet,
  identity,
}: Pick<EnterCommand, 'perl'> & {
  /** A process in that network, as the kernel shows it: /proc/PID. The relay has a group beside that of the process, and sees none above. */
  readonly process: string
  readonly port: number
  readonly socket: string
  readonly outlet: CellOutlet | undefined
  readonly identity: NonNullable<EnterCommand['identity']>
}): string[] {
  return [
    begin(perl),
    ['port', String(port)],
    ['listen', socket],
    outlet === undefined ? [] : ['outlet', outlet.socket],
    ['join', member],
    doors(outlet),
    become(identity),
    'run',
  ].flat()
}

const PROGRAM = fileURLToPath(new URL('enter.pl', import.meta.url))
/** The user of its own namespace, without uids for cells: what enter.pl is mapped to outside. */
const MAPPED_ROOT = { uid: 0, gid: 0 }

/** Throws image_unsupported for an image that no cell can have as its root folder. */
export function enterCommand(command: EnterCommand): string[] {
  const { perl, root, name, identity, socket, stage, reads, files } = command
  const owner = identity ?? MAPPED_ROOT
  const user = root.user ??
    identity ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  return [
    begin(perl),
    root.port === undefined ? [] : ['port', String(root.port)],
    socket === undefined ? [] : ['listen', socket, 'outputs', dirname(socket)],
    root.outlet === undefined ? [] : ['outlet', root.outlet.socket],
    planRoot({ root, stage, hostname: root.hostname ?? name, owner, reads }),
    'loopback',
    doors(root.outlet),
    identity === undefined ? [] : become(identity),
    ['user', String(user.uid), String(user.gid)],
    files === undefined ? [] : ['files', String(files)],
    root.workingFolder === undefined ? [] : ['in', root.workingFolder],
    'run',
  ].flat()
}

const doors = (outlet: CellOutlet | undefined): string[] =>
  (outlet?.ports ?? []).flatMap(({ port, refusal }) => ['door', String(port), refusal])

const become = ({ uid, gid, groups }: NonNullable<EnterCommand['identity']>): string[] => [
  'become',
  String(uid),
  String(gid),
  groups.join(),
]

function begin(perl: string): string[] {
  return [perl, PROGRAM, OWN_ARCHITECTURE, syscallFilter(OWN_ARCHITECTURE).toString('hex')]
}
