// Images of a real registry that are absent, damaged or away, and an agent that is killed while it deploys one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Agent, WebSocket } from 'undici'
import { layerOf, writeLayout } from '#images/testing.ts'
import { bookFaults } from '../books.ts'
import {
  noRegistry,
  openRegistryProxy,
  READER,
  startRegistry,
  type Registry,
} from '../images/docker-registry.ts'
import { freeBlock } from '../ports.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from './image.ts'
import { ask, until, workloadClient, type ShownWorkload } from './workload-client.ts'

type Client = ReturnType<typeof workloadClient>

const NOBODY = `sha256:${'0'.repeat(64)}`
const PASSWORD = Buffer.from(`${READER.user}:${READER.password}`).toString('base64')
/** The least time without a request until a workload sleeps. */
const SLEEP = '10s'

describe('images of a registry as workloads', { skip: noRegistry }, () => {
  const home = mkdtempSync(join(tmpdir(), 'ergon-bad-images-'))
  let registry: Registry
  let digest: string
  let ergon: Ergon
  let client: Client
  /** A proxy that changes bytes, one that holds back layers, and the port of one that is away at first. */
  let damaging: string
  let holding: string
  let layerless: string
  let away: number
  let closedRegistry: Registry
  let closed: string
  const passwords = join(home, 'passwords.json')
  let held: ServerResponse[] | undefined = []

  before(async () => {
    registry = await startRegistry(home)
    digest = writeServerImage(join(home, 'server'))
    writeServerImage(join(home, 'bare'), { config: { Cmd: [] } })
    const links = Array.from({ length: 2001 }, (_, nth) => `etc/${nth}`)
    await writeLinks('many', Object.fromEntries(links.map((name) => [name, 'x'])))
    await writeLinks('links', { vetc: 'etc', vproc: '/proc' })
    for (const name of ['server', 'bare', 'many', 'links'])
      registry.push(join(home, name), `acme/${name}`)
    damaging = await openRegistryProxy(registry.host, ({ url = '' }, outgoing, pass) => {
      if (url.includes('/bare/manifests/')) outgoing.end('{"schemaVersion":2,"manifests":[]}')
      else if (url.includes('/blobs/')) outgoing.end(Buffer.alloc(100_000, url))
      else pass()
    })
    holding = await openRegistryProxy(registry.host, ({ url = '' }, outgoing, pass) => {
      if (held !== undefined && url.includes('/blobs/')) held.push(outgoing)
      else pass()
    })
    const manifest = new Request(`http://${registry.host}/v2/acme/server/manifests/v1`, {
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
    })
    // The manifest and configuration of an image that another registry has, and not its layers.
    layerless = await openRegistryProxy(registry.host, async ({ url = '' }, outgoing, pass) => {
      const { config } = (await (await fetch(manifest)).json()) as { config: { digest: string } }
      if (url.includes('/blobs/') && !url.endsWith(config.digest)) outgoing.writeHead(404).end()
      else pass()
    })
    closedRegistry = await startRegistry(home, { isClosed: true })
    closed = closedRegistry.host
    writeFileSync(passwords, JSON.stringify({ auths: { [closed]: { auth: PASSWORD } } }))
    away = await freeBlock()
    const registries = [registry.host, damaging, holding, layerless, closed, `127.0.0.1:${away}`]
    ergon = await startErgon({
      env: {
        ERGON_PRIVATE_REGISTRIES: registries.map((host) => `http://${host}`).join(),
        ERGON_WORKLOAD_READY_SECONDS: '20',
        ERGON_REGISTRY_PASSWORDS: passwords,
      },
    })
    client = workloadClient(ergon)
  })
  after(async () => {
    await ergon?.stop()
    registry?.stop()
    closedRegistry?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  /** An image of nothing but links. */
  async function writeLinks(name: string, links: Readonly<Record<string, string>>): Promise<void> {
    const entries = Object.entries(links).map(
      ([path, linkname]) => ({ name: path, type: 'symlink', linkname }) as const,
    )
    writeLayout(join(home, name), { layers: [await layerOf(entries)], config: { Cmd: ['/x'] } })
  }
  const image = () => `${registry.host}/acme/server:v1`
  /** Failures of one account make it rest before the next. */
  async function otherAccount(): Promise<Client> {
    const { id: account } = await ergon.control('account.create', {})
    await ergon.control('funds.add', { account, pusd: '1000000000000' })
    const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
    return workloadClient({ baseUrl: ergon.baseUrl, token })
  }
  const cellOf = ({ id, version }: ShownWorkload) => `${id.replace('_', '-')}-${version}`
  const deployed = (of: Client, name: string) =>
    until(
      () => of.show(name),
      (one) => one.live_version === one.version && one.status === 'deployed',
    )

  test('an image is deployed by its tag and by its digest, and sleeps until it is asked', async () => {
    const made = await client.deploy('tagged', { image: image(), scale_to_zero_after: SLEEP })
    assert.deepEqual([made.live_version, made.digest], [1, digest], JSON.stringify(made))
    const named = await client.deploy('named', { image: `${registry.host}/acme/server@${digest}` })
    assert.deepEqual([named.live_version, named.digest], [1, digest], JSON.stringify(named))
    assert.match((await ask(named.url)).text, /^hello/)
  })

  test('a registry with a password opens by the file of the operator alone', async () => {
    const name = `${closed}/acme/server:v1`
    const made = await client.deploy('closed', { image: name })
    assert.equal(made.live_version, 1, JSON.stringify(made))
    assert.ok(!JSON.stringify(made).includes('s3cret'))
    // It is read for each pull.
    writeFileSync(passwords, '{"auths":{}}')
    const other = await (await otherAccount()).deploy('closed', { image: name })
    assert.match(String(other.versions[0]?.failure), /registry refuses \(401\)/)
  })

  test('a registry opens by the password of an account for that account alone', async () => {
    const name = `${closed}/acme/server:v1`
    const own = await otherAccount()
    const registries = (method: string, body?: object, path = `/${closed}`) =>
      fetch(`${ergon.baseUrl}/v1/registries${path}`, {
        method,
        headers: { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const login = (password: string) => registries('PUT', { username: READER.user, password })
    const failureOf = async (of: Client) =>
      String((await of.deploy('closed', { image: name })).versions[0]?.failure)
    assert.ok((await failureOf(own)).includes(`ergon registry login ${closed}`))
    assert.equal((await login('wr0ng')).status, 200)
    assert.match(await failureOf(own), /the password that is kept for it may not pull/)
    assert.equal((await login(READER.password)).status, 200)
    const made = await own.deploy('closed', { image: name })
    assert.equal(made.live_version, made.version, JSON.stringify(made))
    assert.match(await failureOf(await otherAccount()), /registry refuses \(401\)/)
    assert.equal((await registries('DELETE')).status, 200)
    assert.match(await failureOf(own), /wants a password/)
    const told = [
      JSON.stringify([made, await own.show('closed')]),
      await own.lines('closed'),
      ergon.stderr(),
      await ergon.sql('select type, data from events'),
      await ergon.sql('select * from audit_entries'),
    ]
    assert.doesNotMatch(JSON.stringify(told), /s3cret|wr0ng/)
  })

  test('an image that one registry has given is not opened by another that names it', async () => {
    const own = await otherAccount()
    const made = await own.deploy('named', { image: `${layerless}/acme/server:v1` })
    assert.match(String(made.versions[0]?.failure), /Could not find the image/)
  })

  const BAD: readonly (readonly [
    what: string,
    image: () => string,
    failure: RegExp,
    volume?: string,
  ])[] = [
    ['no such tag', () => `${registry.host}/acme/server:v9`, /Could not find the image .*:v9/],
    [
      'no such digest',
      () => `${registry.host}/acme/server:v1@${NOBODY}`,
      /Could not find the image .*@sha256:0000/,
    ],
    ['another manifest', () => `${damaging}/acme/bare:v1@${digest}`, /its manifest is sha256:/],
    ['a damaged layer', () => `${damaging}/acme/server:v1`, /is not sha256:|damaged/],
    [
      'many entries',
      () => `${registry.host}/acme/many:v1`,
      /folder \/etc has more than \d+ entries/,
    ],
    ['a link to /etc', () => `${registry.host}/acme/links:v1`, /lead to \/etc, where/, '/vetc'],
    [
      'a link to /proc',
      () => `${registry.host}/acme/links:v1`,
      /lead to \/proc\/x, where/,
      '/vproc/x',
    ],
    ['no command', () => `${registry.host}/acme/bare:v1`, /neither it nor its image has a command/],
  ]
  test('an image that is absent, damaged or has no command is told', async () => {
    await Promise.all(
      BAD.map(async ([what, name, failure, path]) => {
        const own = await otherAccount()
        const made = await own.deploy('bad', {
          image: name(),
          ...(path && { volumes: [{ name: 'data', path, size: '16MB' }] }),
        })
        assert.match(String(made.versions[0]?.failure), failure, what)
        await until(
          () => own.show('bad'),
          ({ status }) => status === 'failed',
        )
        assert.match((await ask(made.url)).text, /workload_starting/, what)
      }),
    )
    const folder = join(ergon.dataFolder, 'images')
    const places = readdirSync(folder).filter((name) => !name.startsWith('.'))
    const files = places.flatMap((place) => readdirSync(join(folder, place, 'roots')))
    assert.deepEqual(
      files.filter((name) => !/^[\da-f]{64}$/.test(name)),
      [],
    )
  })

  test('a registry that is away is told, and asked again', async () => {
    const own = await otherAccount()
    const made = await own.api('POST', '', {
      name: 'away',
      image: `127.0.0.1:${away}/acme/server:v1`,
    })
    assert.equal(made.status, 201)
    const { reason, versions } = await until(
      () => own.show('away'),
      ({ status }) => status === 'failed',
    )
    assert.match(
      String(reason),
      /^Could not pull the image: 127\.0\.0\.1:\d+: nothing listens at the address/,
    )
    assert.equal(versions[0]?.failure, null)
    await openRegistryProxy(registry.host, (_, __, pass) => pass(), away)
    const { url } = await deployed(own, 'away')
    assert.match((await ask(url)).text, /^hello/)
  })

  test('a WebSocket reaches a container', async () => {
    const { url } = await client.show('named')
    const { host } = new URL(url)
    const dispatcher = new Agent({
      connect: { lookup: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) },
    })
    const socket = new WebSocket(`ws://${host}/chat`, { dispatcher })
    await once(socket, 'open')
    for (const text of ['hello', 'once more']) {
      socket.send(text)
      const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
      assert.equal(data, text)
    }
    socket.close()
    await dispatcher.destroy()
  })

  test('a process that leaves its parent twice is charged', async () => {
    const shown = await client.show('named')
    const cpuNs = async () => {
      const { cells } = await ergon.control('node.status', {})
      return Number(cells.find(({ name }) => name === `${cellOf(shown)}-1`)?.cpu_ns)
    }
    const chargedNj = async () => {
      const [row] = await ergon.sql<{ nj: string }>(
        "select coalesce(sum(energy_nj), 0)::text as nj from charges where resource = $1 and operation = 'workload.standing'",
        [shown.id],
      )
      return Number(row?.nj)
    }
    const [cpu, charged] = await Promise.all([cpuNs(), chargedNj()])
    assert.equal((await ask(shown.url, '/hide')).text, 'answered')
    await until(
      () => client.lines('named'),
      (lines) => lines.includes('stdout: hidden'),
    )
    // Half a second of a core.
    assert.ok((await cpuNs()) - cpu >= 5e8)
    await client.api('POST', '/named/suspend', {})
    await until(chargedNj, (nj) => nj - charged > 5e8)
  })

  test('a workload that is deleted pulls its image no more', async () => {
    const own = await otherAccount()
    writeServerImage(join(home, 'gone'), { config: { Labels: { own: 'gone' } } })
    registry.push(join(home, 'gone'), 'acme/gone')
    const { body } = await own.api('POST', '', { name: 'gone', image: `${holding}/acme/gone:v1` })
    const isPulling = async () =>
      (await ergon.control('node.status', {})).cells.some(
        ({ name }) => name === `${cellOf(body)}-pull`,
      )
    await until(isPulling, (is) => is && held?.length !== 0)
    await own.api('DELETE', '/gone')
    await until(isPulling, (is) => !is)
    held = []
  })

  test('a kill of the agent during a pull and during a trial leaves nothing, and both are deployed', async () => {
    const other = await otherAccount()
    const slow = ['/bin/sh', '-c', '/usr/bin/perl -e "sleep 3"; exec /usr/bin/perl /app/server.pl']
    const late = `${holding}/acme/server:v1`
    // Nothing of the image is there.
    writeServerImage(join(home, 'late'), { config: { Labels: { own: 'late' } } })
    registry.push(join(home, 'late'), 'acme/late')
    const pulled = await other.api('POST', '', {
      name: 'pulled',
      image: late.replace('server', 'late'),
    })
    const tried = await client.api('POST', '', { name: 'tried', image: image(), command: slow })
    const cells = [`${cellOf(pulled.body)}-pull`, `${cellOf(tried.body)}-1`]
    const pids = await until(
      () => Promise.all(cells.map((cell) => ergon.pidOf(cell).catch(() => 0))),
      (found) => found.every((pid) => pid > 0) && held?.length !== 0,
    )
    await ergon.kill()
    await until(
      async () => pids.filter((pid) => existsSync(`/proc/${pid}`)),
      (left) => left.length === 0,
    )
    held = undefined
    await ergon.resume()
    for (const [of, name] of [
      [other, 'pulled'],
      [client, 'tried'],
    ] as const) {
      const { url, versions } = await deployed(of, name)
      assert.deepEqual([versions.length, versions[0]?.failure], [1, null])
      assert.match((await ask(url)).text, /^hello/)
    }
    const { cells: left } = await ergon.control('node.status', {})
    assert.deepEqual(
      left.filter(({ name }) => name.endsWith('-pull')),
      [],
    )
    const uids = await Promise.all(cells.map(async (cell) => uidOf(cell.replace('-pull', '-1'))))
    assert.equal(new Set(uids).size, 2, 'two accounts never have one uid')
  })

  const uidOf = async (cell: string): Promise<string | undefined> =>
    /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${await ergon.pidOf(cell)}/status`, 'utf8'))?.[1]

  test('a workload that nobody asks sleeps, and a request wakes it', async () => {
    const before = await until(
      () => client.show('tagged'),
      ({ instances }) => instances === 0,
    )
    assert.equal(before.status, 'deployed')
    assert.equal(await ergon.pidOf(`${cellOf(before)}-1`).catch(() => 0), 0)
    assert.match((await ask(before.url)).text, /^hello/)
    assert.equal((await client.show('tagged')).instances, 1)
    await until(
      () => client.show('tagged'),
      ({ instances }) => instances === 0,
    )
    assert.deepEqual(await bookFaults(ergon), [])
  })
})
