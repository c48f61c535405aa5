// Workloads on an engine of containers, as their owners use them: the description file of the specification answers through the
// ingress, is billed, crashes, is suspended and goes.
import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from './image.ts'
import { noDockerd, startDockerd } from './dockerd.ts'
import { noEngine, startPodman, type TestEngine } from './podman.ts'
import { ask as askAt, until, workloadClient } from './workload-client.ts'

/** The contract of drivers is run on Docker too. */
const noLong = process.env['ERGON_LONG'] !== '1' && 'on Docker with ERGON_LONG=1'
const HOST = 'api.example.com'

for (const { name, skip, startEngine } of [
  { name: 'podman', skip: noEngine, startEngine: startPodman },
  { name: 'docker', skip: noDockerd || noLong, startEngine: startDockerd },
])
  suite(`workloads on ${name}`, { skip }, () => {
    let engine: TestEngine
    let ergon: Ergon
    let folder: string
    let client: ReturnType<typeof workloadClient>
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ergon-docker-'))
      chmodSync(folder, 0o755)
      writeServerImage(join(folder, 'images/server'))
      mkdirSync(join(folder, 'api'))
      engine = await startEngine()
      ergon = await startErgon({
        env: {
          ERGON_IMAGE_FOLDER: join(folder, 'images'),
          ERGON_WORKLOAD_DRIVER: 'docker',
          ERGON_WORKLOAD_ENGINE: engine.socket,
        },
      })
      client = workloadClient(ergon)
    })
    after(async () => {
      await ergon?.stop()
      await engine?.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const ask = (path = '/') =>
      askAt(String(ergon.ready['functions_url']).replace(/\/\/[^:]+/, `//${HOST}`), path)
    const containers = () => engine.tool('ps', '--quiet').split('\n').filter(Boolean).length

    test('a description file deploys, and answers through the ingress at its host', async () => {
      const file = join(folder, 'api/ergon.hcl')
      writeFileSync(
        file,
        `workload "api" {
        image         = "oci:${folder}/images/server:v1"
        region        = "auto"
        energy_budget = "250 kJ/day"
        health { path = "/healthz" }
      }
      route "${HOST}" { to = workload.api }`,
      )
      const made = await ergon.cli('deploy', '--file', file, '--yes')
      assert.equal(made.code, 0, made.stderr)
      assert.deepEqual(await ask(), { status: 200, text: 'hello from version ?\n' })
      assert.equal(containers(), 1)
      const label = '{{index .Config.Labels "ergon.workload"}}'
      const [id = ''] = engine.tool('ps', '--quiet').split('\n')
      assert.equal(
        engine.tool('inspect', '--format', label, id).trim(),
        (await client.show('api')).id,
      )
      await until(
        () => client.lines('api'),
        (lines) => lines.includes('stdout: listening on 8080'),
      )
    })

    test('joules of a container are on its bill, also of work behind the answer', async () => {
      const { id } = await client.show('api')
      await ask('/burn')
      await until(
        () => client.lines('api'),
        (lines) => lines.includes('stdout: burnt'),
      )
      await client.api('POST', '/api/suspend', {})
      await until(
        () => client.show('api'),
        ({ status }) => status === 'suspended',
      )
      assert.equal(containers(), 0)
      assert.match((await ask()).text, /workload_suspended/)
      const charged = () =>
        ergon.sql<{ joules: number }>(
          "select coalesce(sum(energy_nj), 0)::float8 / 1e9 as joules from charges where resource = $1 and operation = 'workload.standing'",
          [id],
        )
      // Half a second of a core and more.
      await until(charged, ([sum]) => (sum?.joules ?? 0) > 1)
      await client.api('POST', '/api/resume', {})
      await until(ask, ({ status }) => status === 200)
    })

    test('an end is told with its code, and it answers again', async () => {
      await ask('/exit')
      await until(
        () => client.lines('api'),
        (lines) => lines.includes('service: An instance has ended: it ended by exit code 3'),
      )
      await until(ask, ({ status }) => status === 200)
    })

    test('a container that nothing leads to any more ends, and another one answers', async () => {
      const before = engine.tool('ps', '--quiet')
      const cell = `wl-${(await client.show('api')).id.slice(3)}-`
      const relays = readdirSync('/proc').filter((pid) => {
        try {
          const group = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
          return group.includes(`/${cell}`) && /\/relay$/m.test(group)
        } catch {
          return false
        }
      })
      assert.ok(relays.length > 0)
      for (const pid of relays) process.kill(Number(pid), 'SIGKILL')
      await until(
        async () => engine.tool('ps', '--quiet'),
        (now) => now !== before && now !== '',
      )
      await until(ask, ({ status }) => status === 200)
    })

    test('a deleted workload leaves no container', async () => {
      await client.api('DELETE', '/api')
      await until(
        async () => engine.tool('ps', '--all', '--quiet').trim(),
        (left) => left === '',
      )
      assert.deepEqual(await bookFaults(ergon), [])
    })
  })

test('a start with an engine that does not answer is refused, with what to change', async () => {
  const env = { ERGON_WORKLOAD_DRIVER: 'docker', ERGON_WORKLOAD_ENGINE: '/no/engine.sock' }
  await assert.rejects(startErgon({ env }), /engine at \/no\/engine\.sock .*ERGON_WORKLOAD_ENGINE/)
})
