// Containers in the network, by the programs of an image: busybox as a small image has it, curl, and psql where it is installed.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { writeLayout } from '#images/testing.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { until, workloadClient } from './workload-client.ts'

const [BUSYBOX, CURL] = ['/usr/bin/busybox', '/usr/bin/curl']
const ABSENT = {
  skip: [BUSYBOX, CURL].every((path) => existsSync(path)) ? false : 'needs busybox and curl',
}
/** Not the wrapper in /usr/bin, which needs Perl. */
const PSQL = globSync('/usr/lib/postgresql/*/bin/psql')[0]
const BYTES_MAX = 200_000_000
/** Stand for a public address, and for a machine of the operator. */
const [PUBLIC, PRIVATE] = ['127.0.0.9', '127.0.0.8']

let ergon: Ergon
let folder: string
before(async () => {
  if (ABSENT.skip !== false) return
  folder = mkdtempSync(join(tmpdir(), 'ergon-network-'))
  chmodSync(folder, 0o755)
  writeImage(join(folder, 'callers'))
  ergon = await startErgon({
    env: { ERGON_IMAGE_FOLDER: folder, ERGON_EGRESS_NETWORKS: PUBLIC },
  })
})
after(async () => {
  await ergon?.stop()
  if (folder !== undefined) rmSync(folder, { recursive: true })
})

function writeImage(path: string): void {
  const root = join(folder, 'root')
  makeImageRoot(root, PSQL === undefined ? [CURL] : [CURL, PSQL], {})
  // It needs no library.
  copyFileSync(BUSYBOX, join(root, BUSYBOX))
  const layer = execFileSync('tar', ['-C', root, '-c', '.'], { maxBuffer: BYTES_MAX })
  mkdirSync(path)
  writeLayout(path, { layers: [layer], config: { ExposedPorts: { '8080/tcp': {} } } })
}

async function serve(t: TestContext, host: string) {
  let hits = 0
  const server = createServer((request, response) => {
    hits++
    response.end(`${request.method} ${request.url} at ${host}\n`)
  }).listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://${host}:${port}/`, hits: () => hits }
}

test('a container reaches public addresses and the API, and no other', ABSENT, async (t) => {
  const [there, canary] = [await serve(t, PUBLIC), await serve(t, PRIVATE)]
  const client = workloadClient(ergon)
  const script = `cd /tmp; b=${BUSYBOX}; c='${CURL} -sS --max-time 20'
    $b wget -q -O - ${there.url}wget
    $c ${there.url}curl
    $c -p ${there.url}tunnel
    $c ${ergon.baseUrl}/healthz | $b head -c 1; echo
    $b wget -q -O - ${canary.url} 2>&1
    $c ${canary.url}
    $c -o /dev/null -w '%{http_code}\\n' ${ergon.baseUrl.replace('localhost', '127.0.0.1')}/healthz
    exec $b httpd -f -p 8080`
  const { port } = new URL(ergon.baseUrl)
  // A port of its own is never a way out.
  assert.notEqual(port, '8080')
  const made = await client.deploy('callers', {
    image: `oci:${folder}/callers:v1`,
    command: [BUSYBOX, 'sh', '-c', script],
    scale: { min: 1 },
  })
  assert.equal(made.live_version, 1, JSON.stringify(made))
  const lines = await until(
    () => client.lines('callers'),
    (some) => some.some((line) => line.startsWith('stdout: 200')),
  )
  const words = /Could not connect to 127\.0\.0\.8:\d+: the address is not public: 127\.0\.0\.8/
  const [wget, curl, tunnel, api, refused, told] = lines.filter((line) => line.startsWith('std'))
  assert.deepEqual(
    [wget, curl, tunnel, api],
    [...['wget', 'curl', 'tunnel'].map((path) => `stdout: GET /${path} at ${PUBLIC}`), 'stdout: {'],
  )
  assert.match(refused ?? '', /403/)
  assert.match(told ?? '', words)
  assert.ok(
    lines.some((line) => line.startsWith('service: ') && words.test(line)),
    lines.join('\n'),
  )
  assert.equal(canary.hits(), 0)
})

test(
  'a container asks its database',
  { skip: ABSENT.skip !== false ? ABSENT.skip : PSQL === undefined && 'needs psql' },
  async () => {
    const made = await ergon.cli('db', 'create', 'asked')
    assert.equal(made.code, 0, made.stderr)
    const url = (await ergon.cli('db', 'url', 'asked')).stdout.trim()
    const client = workloadClient(ergon)
    const script = `${PSQL} "$DATABASE_URL" -Atc 'select 6 * 7' 2>&1; exec ${BUSYBOX} httpd -f -p 8080`
    const deployed = await client.deploy('asker', {
      image: `oci:${folder}/callers:v1`,
      command: [BUSYBOX, 'sh', '-c', script],
      env: { DATABASE_URL: url },
      scale: { min: 1 },
    })
    assert.equal(deployed.live_version, 1, JSON.stringify(deployed))
    const lines = await until(
      () => client.lines('asker'),
      (some) => some.some((line) => line.startsWith('stdout: ')),
    )
    assert.equal(
      lines.find((line) => line.startsWith('stdout: ')),
      'stdout: 42',
    )
  },
)
