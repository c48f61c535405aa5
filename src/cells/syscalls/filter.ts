// The filter of system calls as a program of classic BPF. Sources: seccomp(2); linux/filter.h, linux/seccomp.h.
import { CONDITIONAL, DENIED, LAST_SYSCALL, type Architecture } from './denied.ts'

export type { Architecture }

const LOAD = 0x20
const AND = 0x54
const JUMP_EQUAL = 0x15
const JUMP_GREATER = 0x25
const JUMP_AT_LEAST = 0x35
const RETURN = 0x06

/** Of struct seccomp_data. */
const OFFSET = { number: 0, architecture: 4, argument: (nth: number) => 16 + 8 * nth }

const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const failWith = (errno: number): number => 0x00050000 | errno
const EPERM = 1
const EAFNOSUPPORT = 97
const ENOSYS = 38

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const ARCHITECTURES: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Numbers of the x32 interface have this bit. */
const X32 = 0x40000000
/** Flags of clone(2) that make namespaces. */
const NAMESPACES = 0x7e020000
/** Unix sockets, IPv4, IPv6, netlink. */
const FAMILIES = [1, 2, 10, 16]
/** PER_LINUX, PER_LINUX32, both without randomised addresses, and the value that asks for the present one. */
const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0xffffffff]

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const load = (offset: number): Instruction => [LOAD, 0, 0, offset]
const done = (value: number): Instruction => [RETURN, 0, 0, value]
/** Ends with the value where the test holds, else goes on behind it. */
const endIf = (test: number, value: number, end: number): Instruction[] => [
  [test, 0, 1, value],
  done(end),
]
/** Runs the instructions where the call has this number; they must end. */
const onCall = (number: number, instructions: readonly Instruction[]): Instruction[] => [
  [JUMP_EQUAL, 0, instructions.length, number],
  ...instructions,
]
/** Ends with ALLOW where the argument is one of the values, else with the errno. */
const oneOf = (values: readonly number[], errno: number): Instruction[] => [
  load(OFFSET.argument(0)),
  ...values.flatMap((value) => endIf(JUMP_EQUAL, value, ALLOW)),
  done(failWith(errno)),
]

/**
 * The program as bytes of struct sock_filter. A denied call fails with EPERM, an unknown one with ENOSYS; a call of another
 * architecture ends the process.
 */
export function syscallFilter(architecture: Architecture): Buffer {
  const column = architecture === 'x64' ? 0 : 1
  const denied = Object.values(DENIED).flatMap((numbers) => numbers[column] ?? [])
  return encode([
    load(OFFSET.architecture),
    [JUMP_EQUAL, 1, 0, ARCHITECTURES[architecture]],
    done(KILL_PROCESS),
    load(OFFSET.number),
    ...endIf(JUMP_AT_LEAST, X32, failWith(EPERM)),
    ...endIf(JUMP_GREATER, LAST_SYSCALL, failWith(ENOSYS)),
    ...denied.flatMap((number) => endIf(JUMP_EQUAL, number, failWith(EPERM))),
    // Without arguments that a filter can read: libraries use clone(2) then.
    ...endIf(JUMP_EQUAL, CONDITIONAL.clone3[architecture], failWith(ENOSYS)),
    ...onCall(CONDITIONAL.clone[architecture], [
      load(OFFSET.argument(0)),
      [AND, 0, 0, NAMESPACES],
      ...endIf(JUMP_EQUAL, 0, ALLOW),
      done(failWith(EPERM)),
    ]),
    ...onCall(CONDITIONAL.socket[architecture], oneOf(FAMILIES, EAFNOSUPPORT)),
    ...onCall(CONDITIONAL.personality[architecture], oneOf(PERSONALITIES, EPERM)),
    done(ALLOW),
  ])
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length)
  for (const [at, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * at)
    bytes.writeUInt8(ifTrue, 8 * at + 2)
    bytes.writeUInt8(ifFalse, 8 * at + 3)
    bytes.writeUInt32LE(value >>> 0, 8 * at + 4)
  }
  return bytes
}

/** seccomp(2) with SECCOMP_SET_MODE_FILTER. */
const SECCOMP: Record<Architecture, number> = { x64: 317, arm64: 277 }

/** Loads the filter (its third argument, in hex) and becomes the program behind it: perl alone can call the kernel so. */
const LOAD_SCRIPT = `my ($number, $hex) = splice @ARGV, 0, 2; my $filter = pack 'H*', $hex;
my $program = pack 'S x6 P', length($filter) / 8, $filter;
syscall($number + 0, 1, 0, $program) == 0 or do { print STDERR "no filter of system calls: $!\\n"; exit 71 };
exec { $ARGV[0] } @ARGV or exit 72`

/** The command before a program that may make only the calls of tenants. Needs no_new_privs. */
export const filteredBy = (perl: string, architecture: Architecture): string[] => [
  perl,
  '-e',
  LOAD_SCRIPT,
  String(SECCOMP[architecture]),
  syscallFilter(architecture).toString('hex'),
]
