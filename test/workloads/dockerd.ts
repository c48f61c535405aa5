// An engine of its own for tests: Docker's daemon, with its files and socket in one folder, where it is installed.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestEngine } from './podman.ts'

const START_MS_MAX = 30_000
const WORDS_MS_MAX = 60_000
const PROGRAMS = ['dockerd', 'containerd', 'docker', 'runc']

/** Of `test`: why no daemon can run here, or false. */
export const noDockerd = whyNoDockerd()

export async function startDockerd(): Promise<TestEngine> {
  // Short: containerd has a socket of 103 bytes at most inside.
  const home = mkdtempSync(join(tmpdir(), 'dockerd-'))
  const socket = join(home, 'docker.sock')
  const words = [
    `--data-root=${home}/data`,
    `--exec-root=${home}/exec`,
    `--pidfile=${home}/pid`,
    `--host=unix://${socket}`,
    '--bridge=none',
    '--iptables=false',
    '--ip6tables=false',
    '--exec-opt=native.cgroupdriver=cgroupfs',
  ]
  const child = spawn('dockerd', words, { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] })
  let told = ''
  child.stderr.on('data', (text: Buffer) => (told = `${told}${text}`.slice(-WORDS_MS_MAX)))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ending = AbortSignal.timeout(START_MS_MAX)
  while (!told.includes('API listen')) {
    if (child.exitCode !== null) throw new TypeError(`dockerd does not start: ${told}`)
    await pause(50, undefined, { signal: ending })
  }
  const tool: TestEngine['tool'] = (...rest) =>
    execFileSync('docker', ['--host', `unix://${socket}`, ...rest], {
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: WORDS_MS_MAX,
    })
  return {
    socket,
    shows: [],
    tool,
    async stop() {
      const left = tool('ps', '--all', '--quiet').split('\n').filter(Boolean)
      if (left.length > 0) tool('rm', '--force', ...left)
      child.kill()
      await ended
      unmountBelow(home)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** A daemon leaves mounts where its containers were killed. */
function unmountBelow(home: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm)
  for (const [, path = ''] of mounts)
    if (path.startsWith(`${home}/`)) execFileSync('umount', ['--lazy', path])
}

function whyNoDockerd(): string | false {
  if (process.getuid?.() !== 0) return 'needs root'
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const missing = PROGRAMS.find((one) => !folders.some((folder) => existsSync(join(folder, one))))
  return missing === undefined ? false : `missing: ${missing}`
}
