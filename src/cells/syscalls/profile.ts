// The filter of system calls as engines of containers take it. Sources: the seccomp object of the OCI runtime specification,
// which Docker and Podman read as JSON; libseccomp, which knows calls by their names.
import { CONDITIONAL, ENOSYS, EPERM, syscallsOf, WHOLE } from './allowed.ts'
import type { Architecture } from './numbers.ts'

const ALLOW = 'SCMP_ACT_ALLOW'
const FAIL = 'SCMP_ACT_ERRNO'
/** Calls of other architectures, the 32-bit ones of the same processor too, end the process. */
const ARCHITECTURES: Record<Architecture, string> = {
  x64: 'SCMP_ARCH_X86_64',
  arm64: 'SCMP_ARCH_AARCH64',
}

/** Engines without `defaultErrnoRet` give EPERM in place of ENOSYS, also for a socket of another family. */
export const seccompProfile = (architecture: Architecture): object => ({
  defaultAction: FAIL,
  defaultErrnoRet: ENOSYS,
  architectures: [ARCHITECTURES[architecture]],
  syscalls: [
    { names: syscallsOf(architecture, 'allowed'), action: ALLOW },
    { names: syscallsOf(architecture, 'denied'), action: FAIL, errnoRet: EPERM },
    { names: syscallsOf(architecture, 'absent'), action: FAIL, errnoRet: ENOSYS },
    ...Object.entries(CONDITIONAL).flatMap(([name, { mask, values, further }]) => [
      ...values.map((value) => allowedWhere(name, [{ argument: 0, mask, value }])),
      ...(further === undefined
        ? []
        : [
            allowedWhere(name, [
              { argument: 0, mask, value: further.value },
              { argument: further.argument, mask: WHOLE, value: further.is },
            ]),
          ]),
    ]),
  ],
})

type ArgumentTest = { readonly argument: number; readonly mask: number; readonly value: number }

/** All comparisons must hold. */
const allowedWhere = (name: string, comparisons: readonly ArgumentTest[]): object => ({
  names: [name],
  action: ALLOW,
  args: comparisons.map(({ argument: index, mask: value, value: valueTwo }) => ({
    index,
    value,
    valueTwo,
    op: 'SCMP_CMP_MASKED_EQ',
  })),
})
