// Debian's nginx as an image whose logs are links to /dev/stdout and /dev/stderr, as Docker's images have them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { callUnix } from '#base/unix-client.ts'
import { place } from '#cells/testing/harness.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { writeLayout } from '#images/testing.ts'
import { seedPrograms } from '../ergon-cache.ts'
import { NO_WAIT, openDriver, specOf } from './open-driver.ts'

const NGINX = '/usr/sbin/nginx'
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
const CONFIG = `pid /run/nginx.pid;
error_log /var/log/nginx/error.log notice;
events {}
http {
  access_log /var/log/nginx/access.log;
  ${TEMPORARY.map((name) => `${name}_temp_path /tmp/${name};`).join(' ')}
  server { listen 8080; location / { return 200 "hello\\n"; } }
}
`
const SKIP =
  process.getuid?.() !== 0 ? 'needs root' : !existsSync(NGINX) && 'Debian’s nginx is not installed'

test(
  'nginx answers, and its linked logs are told, as root and as another user of its image',
  { skip: SKIP },
  async (t) => {
    const where = place()
    const folder = mkdtempSync(join(tmpdir(), 'ergon-nginx-'))
    t.after(() => [folder, where.root].forEach((path) => rmSync(path, { recursive: true })))
    chmodSync(folder, 0o755)
    const outlet = { socket: join(where.root, 'nowhere'), ticket: 'a', ports: [], hosts: [] }
    await seedPrograms(where.dataFolder)
    const { cells, driver } = await openDriver({
      name: 'local',
      engine: undefined,
      where,
      imageFolder: folder,
      outlet,
    })
    t.after(() => cells.close())
    for (const User of ['0:0', '101:101']) {
      const tag = `nginx-${User.slice(0, 1)}`
      writeNginx(join(folder, tag), User)
      const lines: string[] = []
      const running = await driver.start(
        { ...(await specOf(driver, `oci:${folder}/${tag}:v1`)), id: `wl_${tag.replace('-', '')}` },
        { line: (stream, text) => void lines.push(`${stream}: ${text}`), ended: () => undefined },
        NO_WAIT,
      )
      await running.ready(AbortSignal.timeout(60_000))
      const { status, text } = await callUnix({
        socketPath: running.address.replace('unix:', ''),
        path: '/a-page',
        signal: AbortSignal.timeout(20_000),
      })
      assert.deepEqual([status, text], [200, 'hello\n'])
      const told = (pattern: RegExp) => lines.some((line) => pattern.test(line))
      for (let looks = 0; looks < 500 && !told(/"GET \/a-page /); looks++) await pause(20)
      assert.ok(told(/^stdout: .*"GET \/a-page HTTP\/1\.1" 200 6/), lines.join('\n'))
      assert.ok(told(/^stderr: .*start worker process/), lines.join('\n'))
      await running.end('idle')
    }
  },
)

function writeNginx(folder: string, User: string): void {
  const root = mkdtempSync(join(tmpdir(), 'ergon-image-'))
  chmodSync(root, 0o755)
  try {
    // As root it makes its workers the user `nobody`, which a cell does not have.
    const own = User.startsWith('0') ? 'user root root;\n' : ''
    makeImageRoot(root, [NGINX], {
      'etc/nginx/nginx.conf': own + CONFIG,
      'etc/passwd': 'root:x:0:0::/:/bin/sh\n',
      'etc/group': 'root:x:0:\n',
    })
    mkdirSync(join(root, 'var/log/nginx'), { recursive: true })
    mkdirSync(join(root, 'var/lib/nginx'), { recursive: true })
    symlinkSync('/dev/stdout', join(root, 'var/log/nginx/access.log'))
    symlinkSync('/dev/stderr', join(root, 'var/log/nginx/error.log'))
    const layer = execFileSync('tar', ['-C', root, '-c', '.'], { maxBuffer: 200_000_000 })
    mkdirSync(folder, { recursive: true })
    writeLayout(folder, {
      layers: [layer],
      config: {
        User,
        Cmd: [NGINX, '-g', 'daemon off;'],
        ExposedPorts: { '8080/tcp': {} },
        StopSignal: 'SIGQUIT',
      },
    })
  } finally {
    rmSync(root, { recursive: true })
  }
}
