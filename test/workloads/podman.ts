// An engine of its own for tests: Debian's podman, with its files and socket in one folder.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeImageRoot } from '#cells/testing/image-root.ts'

const PODMAN = '/usr/bin/podman'
/** crun refuses control groups of both versions side by side. */
const RUNTIMES = ['/usr/sbin/runc', '/usr/bin/crun']
/** Where layers cannot be mounted they are copied: drivers.test.ts took 41 s of CPU in place of 28. */
const DRIVERS = ['overlay', 'vfs'] as const
const START_MS_MAX = 30_000
const WORDS_MS_MAX = 60_000

/** Podman 4.3 makes a namespace of control groups only where they are all of version 2. */
const SHOWS = existsSync('/sys/fs/cgroup/cgroup.controllers')
  ? []
  : ['the hierarchy of control groups']

const found = findDriver()
/** Of `test`: why no engine can run here, or false. */
export const noEngine = 'why' in found && found.why

export interface TestEngine {
  readonly socket: string
  /** The attempts to leave a container that succeed by what the engine is. */
  readonly shows: readonly string[]
  /** The output of its own tool, whose words Docker and Podman share. */
  tool(...words: readonly string[]): string
  stop(): Promise<void>
}

export async function startPodman(): Promise<TestEngine> {
  if ('why' in found) throw new TypeError(found.why)
  const home = mkdtempSync(join(tmpdir(), 'ergon-podman-'))
  const socket = join(home, 'podman.sock')
  const { env, place, podman } = podmanIn(home, found.driver)
  const words = [...place, 'system', 'service', '--time=0', `unix://${socket}`]
  // conmon writes to where it is started.
  const child = spawn(PODMAN, words, { env, cwd: home, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ending = AbortSignal.timeout(START_MS_MAX)
  while (!existsSync(socket)) await pause(50, undefined, { signal: ending })
  return {
    socket,
    shows: SHOWS,
    tool: podman,
    async stop() {
      podman('rm', '--all', '--force', '--time=0')
      child.kill()
      await ended
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Podman without its service, in a folder. */
function podmanIn(home: string, driver: string) {
  const env = { PATH: process.env['PATH'] ?? '', CONTAINERS_CONF: join(home, 'containers.conf') }
  writeFileSync(env.CONTAINERS_CONF, configOf(home))
  const folders = ['--root', join(home, 'root'), '--runroot', join(home, 'run')]
  const place = [...folders, `--storage-driver=${driver}`]
  const podman: TestEngine['tool'] = (...words) =>
    execFileSync(PODMAN, [...place, ...words], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: WORDS_MS_MAX,
    })
  return { env, place, podman }
}

/** The first driver of storage that serves here, or why none does. */
function findDriver(): { readonly driver: string } | { readonly why: string } {
  if (process.getuid?.() !== 0) return { why: 'needs root' }
  if (!existsSync(PODMAN)) return { why: `missing: ${PODMAN}` }
  let fault: string | undefined
  for (const driver of DRIVERS) {
    fault = faultOf(driver)
    if (fault === undefined) return { driver }
  }
  return { why: `podman runs no container here: ${fault}` }
}

/** Runs a container of one program: podman is also there where a machine permits no container. */
function faultOf(driver: string): string | undefined {
  const home = mkdtempSync(join(tmpdir(), 'ergon-podman-'))
  const root = join(home, 'image')
  try {
    makeImageRoot(root, ['/bin/true'], {})
    podmanIn(home, driver).podman('run', '--rm', '--network=none', '--rootfs', root, '/bin/true')
    return undefined
  } catch (error) {
    return (error as Error).message.split('\n').slice(1).join(' ')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function configOf(home: string): string {
  return `
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "${RUNTIMES.find((path) => existsSync(path)) ?? 'crun'}"
[network]
network_config_dir = "${join(home, 'networks')}"
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=1024:4096"]
`
}
