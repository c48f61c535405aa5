// The bounds of a container as its engine takes them: our table of system calls in place of the engine's, and the paths of the
// kernel that cells do not see either. Docker reads the table as text of a request; Podman reads it from a file of its machine.
import { writeFileSync } from 'node:fs'
import { MASKED_IN_PROC } from '#cells/root/plan.ts'
import { OWN_ARCHITECTURE } from '#cells/syscalls/numbers.ts'
import { seccompProfile } from '#cells/syscalls/profile.ts'

/** Fields of the Engine API's HostConfig. */
export type Confinement = {
  readonly CapDrop: readonly string[]
  readonly CgroupnsMode: 'private'
  readonly IpcMode: 'private'
  readonly SecurityOpt: readonly string[]
  readonly MaskedPaths: readonly string[]
  readonly ReadonlyPaths: readonly string[]
}

const MASKED = [...MASKED_IN_PROC.map((name) => `/proc/${name}`), '/sys']

/** The file is written for Podman, each time that an engine is opened. */
export function confinementBy(engine: 'docker' | 'podman', profilePath: string): Confinement {
  const profile = JSON.stringify(seccompProfile(OWN_ARCHITECTURE))
  if (engine === 'podman') writeFileSync(profilePath, profile)
  return {
    CapDrop: ['ALL'],
    CgroupnsMode: 'private',
    IpcMode: 'private',
    SecurityOpt: [
      'no-new-privileges',
      `seccomp=${engine === 'podman' ? profilePath : profile}`,
      // Podman 4.3 has no MaskedPaths, and Docker no such option.
      ...(engine === 'podman' ? [`mask=${MASKED.join(':')}`] : []),
    ],
    MaskedPaths: MASKED,
    ReadonlyPaths: ['/proc/sys'],
  }
}
