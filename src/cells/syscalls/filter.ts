// The filter of system calls as a program of classic BPF. Sources: seccomp(2); linux/filter.h, linux/seccomp.h.
import {
  CONDITIONAL,
  ENOSYS,
  EPERM,
  ruleOf,
  type SyscallCondition,
  type SyscallRule,
} from './allowed.ts'
import { LAST_SYSCALL, syscallNumbers, type Architecture } from './numbers.ts'

const LOAD = 0x20
const AND = 0x54
const JUMP_EQUAL = 0x15
const JUMP_GREATER = 0x25
const JUMP_AT_LEAST = 0x35
const RETURN = 0x06

/** Offsets in struct seccomp_data. */
const OFFSET = { number: 0, architecture: 4, argument: (nth: number) => 16 + 8 * nth }

const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const failWith = (errno: number): number => 0x00050000 | errno

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const ARCHITECTURES: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Numbers of the x32 interface have this bit. */
const X32 = 0x40000000
/** Calls under conditions end before. */
const ENDS: Readonly<Record<SyscallRule, number>> = {
  allowed: ALLOW,
  denied: failWith(EPERM),
  absent: failWith(ENOSYS),
  conditional: failWith(EPERM),
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const load = (offset: number): Instruction => [LOAD, 0, 0, offset]
const done = (value: number): Instruction => [RETURN, 0, 0, value]
/** Ends with the value where the test holds, else goes on behind it. */
const endIf = (test: number, value: number, end: number): Instruction[] => [
  [test, 0, 1, value],
  done(end),
]
/** Ends a call of the number, and goes on for others. */
function endCondition(
  number: number,
  { mask, values, errno, further }: SyscallCondition,
): Instruction[] {
  const ending = [
    load(OFFSET.argument(0)),
    [AND, 0, 0, mask] as const,
    ...values.flatMap((value) => endIf(JUMP_EQUAL, value, ALLOW)),
    ...(further === undefined ? [] : endFurther(further)),
    done(failWith(errno)),
  ]
  return [[JUMP_EQUAL, 0, ending.length, number], ...ending]
}

function endFurther({ value, argument, is }: NonNullable<SyscallCondition['further']>) {
  const ending = [load(OFFSET.argument(argument)), ...endIf(JUMP_EQUAL, is, ALLOW)]
  return [[JUMP_EQUAL, 0, ending.length, value] as const, ...ending]
}

/** Ends each call: neighbours in number that end alike share a test. */
function endByNumber(numbers: ReadonlyMap<string, number>): Instruction[] {
  const ends = Array.from({ length: LAST_SYSCALL + 1 }, () => failWith(ENOSYS))
  for (const [name, number] of numbers) ends[number] = ENDS[ruleOf(name)]
  return [
    ...ends.flatMap((end, number) =>
      end === ends[number + 1] ? [] : [[JUMP_GREATER, 1, 0, number] as const, done(end)],
    ),
    done(failWith(ENOSYS)),
  ]
}

/**
 * The program as bytes of struct sock_filter. A denied call fails with EPERM, an unknown one with ENOSYS; a call of another
 * architecture ends the process.
 */
export function syscallFilter(architecture: Architecture): Buffer {
  const numbers = syscallNumbers(architecture)
  return encode([
    load(OFFSET.architecture),
    [JUMP_EQUAL, 1, 0, ARCHITECTURES[architecture]],
    done(KILL_PROCESS),
    load(OFFSET.number),
    ...endIf(JUMP_AT_LEAST, X32, failWith(EPERM)),
    ...Array.from(numbers).flatMap(([name, number]) => {
      const condition = CONDITIONAL[name]
      return condition === undefined ? [] : endCondition(number, condition)
    }),
    ...endByNumber(numbers),
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
