// Images of a running product: those that the quota takes, and those that a kill has left.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Agent, WebSocket } from 'undici'
import { bookFaults } from '../books.ts'
import { noRegistry, startRegistry, type Registry } from '../images/docker-registry.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from './image.ts'
import { until, workloadClient } from './workload-client.ts'

const FILL_BYTES = 25_000_000
/** Of two images; three have more. */
const QUOTA_MB = '80'

describe('images of an account on the node', { skip: noRegistry }, () => {
  const home = mkdtempSync(join(tmpdir(), 'ergon-image-quota-'))
  const digests = new Map<string, string>()
  let registry: Registry
  let ergon: Ergon
  let client: ReturnType<typeof workloadClient>

  before(async () => {
    registry = await startRegistry(home)
    for (const name of ['one', 'two', 'three']) {
      const layout = join(home, name)
      const files = { 'app/fill': randomBytes(FILL_BYTES) }
      digests.set(name, writeServerImage(layout, { files }).replace('sha256:', ''))
      registry.push(layout, `acme/${name}`)
    }
    ergon = await startErgon({
      env: {
        ERGON_PRIVATE_REGISTRIES: `http://${registry.host}`,
        ERGON_ACCOUNT_IMAGES_MB: QUOTA_MB,
      },
    })
    client = workloadClient(ergon)
  })
  after(async () => {
    await ergon?.stop()
    registry?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const imageOf = (name: string) => ({ image: `${registry.host}/acme/${name}:v1` })
  const imagesFolder = () => join(ergon.dataFolder, 'images')
  const placesOf = () => readdirSync(imagesFolder()).filter((name) => !name.startsWith('.'))
  const rootsOf = () =>
    placesOf().flatMap((place) => {
      const roots = join(imagesFolder(), place, 'roots')
      return existsSync(roots) ? readdirSync(roots) : []
    })
  const isThere = (name: string) => rootsOf().includes(digests.get(name) ?? '')

  test('an image goes for another one only once the last request of its version has ended', async () => {
    const { id, url } = await client.deploy('web', imageOf('one'))
    const dispatcher = new Agent({
      connect: { lookup: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) },
    })
    const socket = new WebSocket(`ws://${new URL(url).host}/chat`, { dispatcher })
    const closed = once(socket, 'close')
    await once(socket, 'open')
    const pid = await ergon.pidOf(`${id.replace('_', '-')}-1-1`)
    const replaced = await client.deploy('web', imageOf('two'))
    assert.equal(replaced.live_version, 2, JSON.stringify(replaced))
    assert.ok(isThere('one') && existsSync(`/proc/${pid}`))
    const made = await client.deploy('other', imageOf('three'))
    assert.equal(made.live_version, 1, JSON.stringify(made))
    await until(
      async () => isThere('one'),
      (is) => !is,
    )
    assert.ok(!existsSync(`/proc/${pid}`), 'it runs without its files')
    await closed
    await dispatcher.destroy()
    assert.ok(isThere('two') && isThere('three'))
  })

  test('the files of pulls and images that a kill has left go with the next start', async () => {
    await ergon.kill()
    const [place = ''] = placesOf()
    const left = [
      join(imagesFolder(), place, 'pulls', 'wl-gone-1-pull'),
      join(imagesFolder(), place, 'roots', '0'.repeat(64)),
    ]
    for (const folder of left) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'part'), 'left')
    }
    await ergon.resume()
    await until(
      async () => left.filter((folder) => existsSync(folder)),
      (folders) => folders.length === 0,
    )
    const { instances } = await until(
      () => client.show('web'),
      ({ status }) => status === 'deployed',
    )
    assert.ok(instances >= 0 && isThere('two') && isThere('three'))
    assert.deepEqual(await bookFaults(ergon), [])
  })
})
