// Images of Docker Hub begin as root, log to links of /dev/stdout, and keep a pid in /run and a cache elsewhere. They listen on
// ports below 1024, and end by a signal of their own. All of that works.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { callUnix } from '#base/unix-client.ts'
import type { Cells } from '#cells/cell.ts'
import { place } from '#cells/testing/harness.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { writeLayout } from '#images/testing.ts'
import type { WorkloadDriver, WorkloadSpec } from '#workloads/driver.ts'
import { seedPrograms } from '../ergon-cache.ts'
import { writeServerImage } from './image.ts'
import { NO_WAIT, openDriver, specOf, type DriverName } from './open-driver.ts'
import { noEngine, startPodman, type TestEngine } from './podman.ts'

const NGINX = '/usr/sbin/nginx'
const NO_NGINX = !existsSync(NGINX) && 'Debian’s nginx is not installed'
const LIMIT_MS = 60_000
const { signal } = new AbortController()

/** Where Debian's nginx has what the image of Docker Hub has in /var/cache/nginx. */
const CACHE = '/var/lib/nginx'
const CONFIG = `user nginx;
worker_processes 1;
error_log /var/log/nginx/error.log notice;
pid /run/nginx.pid;
events { worker_connections 64; }
http {
  access_log /var/log/nginx/access.log;
  server { listen 80; location / { return 200 "hello\\n"; } }
}
`
/** As postgres and redis have it: root gives its rights up by a program of its own. */
const ENTRYPOINT = `#!/bin/sh
set -e
if perl -e 'exit($> != 0)'; then exec gosu nginx "$@"; fi
exec "$@"
`
const BY_SIGNAL = '$SIG{QUIT} = sub { print "quit\\n"; exit 0 }; do "/app/server.pl"'

for (const [name, skip] of [
  ['local', process.getuid?.() !== 0 && 'needs root'],
  ['docker', noEngine],
] as const)
  suite(`habits of images, ${name}`, { skip }, () => habits(name))

function habits(name: DriverName): void {
  const where = place()
  const folder = mkdtempSync(join(tmpdir(), 'ergon-habits-'))
  let engine: TestEngine | undefined
  let cells: Cells
  let driver: WorkloadDriver
  before(async () => {
    chmodSync(folder, 0o755)
    if (name === 'docker') engine = await startPodman()
    const outlet = { socket: join(where.root, 'nowhere'), ticket: 'a', ports: [], hosts: [] }
    const given = { name, engine: engine?.socket, where, imageFolder: folder, outlet }
    await seedPrograms(where.dataFolder)
    ;({ cells, driver } = await openDriver(given))
  })
  after(async () => {
    await cells?.close()
    await engine?.stop()
    for (const path of [folder, where.root]) rmSync(path, { recursive: true, force: true })
  })

  async function started(tag: string, more: Partial<WorkloadSpec>) {
    const lines: string[] = []
    const spec = await specOf(driver, `oci:${folder}/${tag}:v1`)
    const running = await driver.start(
      { ...spec, id: `wl_${tag}`, port: spec.config.ports[0] ?? 0, ...more },
      { line: (stream, text) => void lines.push(`${stream}: ${text}`), ended: () => undefined },
      NO_WAIT,
    )
    await running.ready(signal)
    return { running, lines }
  }
  async function untilTold(lines: readonly string[], pattern: RegExp): Promise<void> {
    const lastMs = performance.now() + LIMIT_MS
    while (!lines.some((line) => pattern.test(line))) {
      assert.ok(performance.now() < lastMs, lines.join('\n'))
      await pause(20)
    }
  }

  test('nginx of Docker Hub runs with a volume for its cache', { skip: NO_NGINX }, async () => {
    writeNginx(join(folder, 'nginx'))
    const volumes = [{ id: 'vol_cache', name: 'cache', path: CACHE, bytes: 16_000_000 }]
    const { running, lines } = await started('nginx', { volumes })
    const { status, text } = await callUnix({
      socketPath: running.address.replace('unix:', ''),
      path: '/a-page',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    assert.deepEqual([status, text], [200, 'hello\n'])
    await untilTold(lines, /^stdout: .*"GET \/a-page HTTP\/1\.1" 200 6/)
    await running.end('idle')
    await untilTold(lines, /^stderr: .*signal 3 \(SIGQUIT\).*shutting down/)
  })

  test('an image ends by its own signal, by name or number', async () => {
    for (const StopSignal of ['SIGQUIT', 'QUIT', '3']) {
      const tag = `signal${StopSignal.toLowerCase()}`
      writeServerImage(join(folder, tag), { config: { StopSignal, User: 'www-data' } })
      const command = ['/usr/bin/perl', '-e', BY_SIGNAL]
      const { running, lines } = await started(tag, { command })
      await running.end('idle')
      assert.ok(lines.includes('stdout: quit'), `${StopSignal}: ${lines.join()}`)
    }
  })
}

function writeNginx(folder: string): void {
  const root = mkdtempSync(join(tmpdir(), 'ergon-image-'))
  chmodSync(root, 0o755)
  try {
    makeImageRoot(root, [NGINX, '/bin/sh', '/usr/bin/perl'], {
      'docker-entrypoint.sh': ENTRYPOINT,
      'etc/nginx/nginx.conf': CONFIG,
      'etc/passwd': 'root:x:0:0::/:/bin/sh\nnginx:x:101:101::/:/bin/false\n',
      'etc/group': 'root:x:0:\nnginx:x:101:\n',
    })
    chmodSync(join(root, 'docker-entrypoint.sh'), 0o755)
    for (const path of ['var/log/nginx', CACHE]) mkdirSync(join(root, path), { recursive: true })
    symlinkSync('/dev/stdout', join(root, 'var/log/nginx/access.log'))
    symlinkSync('/dev/stderr', join(root, 'var/log/nginx/error.log'))
    const layer = execFileSync('tar', ['-C', root, '-c', '.'], { maxBuffer: 200_000_000 })
    writeLayout(folder, {
      layers: [layer],
      config: {
        Entrypoint: ['/docker-entrypoint.sh'],
        Cmd: ['nginx', '-g', 'daemon off;'],
        ExposedPorts: { '443/tcp': {}, '80/tcp': {} },
        StopSignal: 'SIGQUIT',
      },
    })
  } finally {
    rmSync(root, { recursive: true })
  }
}
