import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings } from './config.ts'

const refused = (settings: Parameters<typeof readSettings>[0], ...named: string[]) =>
  assert.throws(
    () => readSettings(settings, []),
    (error: Error) => named.every((name) => error.message.includes(name)),
  )

test('readConfig() names every setting that is wrong', () => {
  refused({ port: '0', gateways: 'many' }, 'ERGON_PORT', 'ERGON_GATEWAYS')
  refused({ pricePusdPerJ: '0' }, 'ERGON_PRICE_PUSD_PER_J')
  refused({ pueMilli: '999' }, 'ERGON_PUE_MILLI')
})

test('readConfig() names words that folders above do not know with all else, and each setting once', () => {
  const settings = { port: '0', models: 'nope', carbonZone: 'xx' }
  const wordFaults = () => ({ models: 'there is no "nope"', carbonZone: 'there is no "xx"' })
  assert.throws(
    () => readSettings(settings, [], wordFaults),
    (error: Error) =>
      /ERGON_PORT.*\n.*ERGON_CARBON_ZONE \(--carbon-zone\): must be.*\n.*ERGON_MODELS \(--models\): there is no "nope"$/.test(
        error.message,
      ),
  )
})

test('readConfig() reads a list of S3 stores, and says which is wrong without its key', () => {
  const one = { store: 's3://one/a', endpoint: 'https://s3.example', key: 'id:secret-key' }
  const two = { store: 's3://two', region: 'eu-1', key: 'other:secret' }
  const listed = (...stores: object[]) => ({ storageS3Stores: JSON.stringify(stores) })
  const [first, second] = readSettings(listed(one, two), []).storageS3Stores
  assert.deepEqual(
    [first?.store, first?.endpoint, first?.region, first?.key.reveal()],
    ['s3://one/a', 'https://s3.example', 'us-east-1', 'id:secret-key'],
  )
  assert.deepEqual([second?.endpoint, second?.region], [undefined, 'eu-1'])
  assert.equal(
    readSettings({ storageBlobs: 's3://two', ...listed(two) }, []).storageBlobs,
    's3://two',
  )
  refused({ storageBlobs: 's3://three', ...listed(two) }, 'ERGON_STORAGE_BLOBS')
  refused(listed(one, two, one), 'ERGON_STORAGE_S3_STORES', 'names a store twice')
  refused({ storageS3Stores: '{' }, 'ERGON_STORAGE_S3_STORES', 'must be a list in JSON')
  const wrong = { ...two, key: 'secret-key', endpoint: 'ftp://x' }
  refused(listed(one, wrong), '1.key must be access:secret', '1.endpoint')
  refused(listed({ ...one, keys: 'x' }), '0 ')
  const told = (settings: Parameters<typeof readSettings>[0]) => {
    try {
      return JSON.stringify(readSettings(settings, []))
    } catch (error) {
      return String(error)
    }
  }
  for (const settings of [listed(one), listed(one, { ...one, region: '' })])
    assert.ok(!told(settings).includes('secret-key'))
})

test('readConfig() lets no token travel in plain text', () => {
  refused({ host: '0.0.0.0' }, 'ERGON_HOST')
  refused({ host: '0.0.0.0', baseUrl: 'http://ergon.example' }, 'ERGON_HOST')
  for (const baseUrl of ['https://ergon.example', 'http://localhost:8080', 'http://[::1]:8080'])
    assert.equal(readSettings({ host: '0.0.0.0', baseUrl }, []).baseUrl, baseUrl)
  assert.equal(readSettings({}, []).host, '127.0.0.1')
})

test('readConfig() takes no secret from a command line, where every user can read it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  writeFileSync(file, 'a token of 25 characters\n')
  const argv = ['--metrics-token-file', file, `--carbon-token-file=${file}`]
  const { metricsToken, carbonToken } = readSettings(
    { metricsToken: 'another one of 30 characters' },
    argv,
  )
  assert.equal(metricsToken?.reveal(), 'a token of 25 characters', 'a flag wins')
  assert.equal(carbonToken?.reveal(), 'a token of 25 characters')
  const faultsOf = (...flags: string[]) => {
    try {
      readSettings({}, flags)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  assert.match(faultsOf('--metrics-token', 'x'.repeat(20)), /--metrics-token: no such flag/)
  assert.match(faultsOf('--metrics-token-file', join(folder, 'none')), /ENOENT/)
  writeFileSync(file, 'short')
  assert.match(faultsOf('--metrics-token-file', file), /16 characters or more/)
  const address = ['redfish', 'https://root:pass-word@bmc/redfish/v1/Chassis/1/Power'].join('+')
  const said = faultsOf('--plug-url', address)
  assert.match(said, /--plug-url: .* set ERGON_PLUG_URL/)
  assert.doesNotMatch(said, /pass-word/)
  assert.match(faultsOf('--database-url', 'postgres://u:pass-word@h/d'), /set DATABASE_URL/)
  assert.equal(faultsOf('--database-url', 'postgres://u@h/d'), '')
})

test('readConfig() names the nearest flag for a misspelt one, in one line', () => {
  const said = (...argv: string[]): string[] => {
    try {
      readSettings({}, argv)
    } catch (error) {
      return (error as Error).message.split('\n').slice(1)
    }
    return []
  }
  const nearest = '  --prot: no such flag; did you mean --port? npm start -- --help names all'
  assert.deepEqual(said('--prot', '9000'), [nearest])
  assert.deepEqual(said('--prot=9000'), [nearest])
  assert.deepEqual(said('--prot', '--json'), [nearest])
  assert.deepEqual(said('--xyzzy', '1'), ['  --xyzzy: no such flag; npm start -- --help names all'])
  assert.deepEqual(said('9000'), ['  9000: no such flag; npm start -- --help names all'])
})

test('the flag of a switch stands alone for on, and takes on or off', () => {
  assert.equal(readSettings({}, ['--pg-upgrade']).pgUpgrade, true)
  const { pgUpgrade, port, json } = readSettings({}, ['--pg-upgrade', '--port', '8081', '--json'])
  assert.deepEqual([pgUpgrade, port, json], [true, 8081, true])
  assert.equal(readSettings({}, ['--databases', 'off', '--json']).databases, false)
  assert.equal(readSettings({}, ['--databases=off']).databases, false)
})

test('readConfig() says what a number, a switch and a word must be', () => {
  refused({ port: 'abc' }, 'ERGON_PORT (--port): must be a whole number from 1 to 65531')
  refused({ port: '70000' }, 'ERGON_PORT (--port): must be a whole number from 1 to 65531')
  refused({ gateways: '1.5' }, 'ERGON_GATEWAYS (--gateways): must be a whole number from 1 to 64')
  refused({ storageAcls: 'maybe' }, 'ERGON_STORAGE_ACLS (--storage-acls): must be on or off')
  refused({ logLevel: 'loud' }, 'must be debug, info, warn or error')
})

test('readConfig() names the address of a stablecoin that is none', () => {
  const token = {
    network: 'eip155:8453',
    token: `0x${'a'.repeat(40)}`,
    decimals: 6,
    name: 'USD Coin',
    version: '2',
    receiver: `0x${'b'.repeat(40)}`,
    nodes: ['https://…'],
    confirmations: 3,
  }
  refused(
    { stablecoins: JSON.stringify([token]) },
    'ERGON_STABLECOINS',
    '0.nodes.0 must be an http(s) address',
  )
})

test('readConfig() refuses test money that leaves this machine, and half a card processor', () => {
  const name = 'ERGON_TEST_PROCESSOR_PORT'
  const here = { testProcessorPort: '8099' }
  for (const fine of [
    here,
    { ...here, baseUrl: 'http://localhost:8080' },
    { ...here, host: '::1' },
  ])
    assert.equal(readSettings(fine, []).testProcessorPort, 8099)
  refused({ ...here, host: '0.0.0.0', baseUrl: 'https://api.example.com' }, name, 'loopback')
  for (const [key, address, setting] of [
    ['baseUrl', 'https://api.example.com', 'ERGON_BASE_URL'],
    ['portalUrl', 'https://portal.example.com', 'ERGON_PORTAL_URL'],
    ['statusUrl', 'https://status.example.com', 'ERGON_STATUS_URL'],
    ['functionsUrl', 'https://functions.example.com', 'ERGON_FUNCTIONS_URL'],
    ['dbHost', 'db.example.com', 'ERGON_DB_HOST'],
    ['storageWebsiteHost', 'sites.example.com', 'ERGON_STORAGE_WEBSITE_HOST'],
  ] as const)
    refused({ ...here, [key]: address }, name, `loopback only, unlike ${setting}`)
  const named = { ...here, portalUrl: 'http://portal.localhost:8081', dbHost: 'db.localhost' }
  assert.equal(readSettings(named, []).testProcessorPort, 8099)
  const live = { cardKey: 'sk_live_12345678', cardWebhookSecret: 'whsec_12345678' }
  refused({ ...here, ...live }, name, 'ERGON_CARD_URL')
  const test = { ...live, cardKey: 'sk_test_12345678' }
  refused({ ...here, ...test, cardUrl: 'http://127.0.0.1:9' }, name, 'for test accounts, too')
  refused({ cardKey: live.cardKey }, 'ERGON_CARD_WEBHOOK_SECRET')
  refused({ ...live, cardKey: 'pk_live_12345678' }, 'ERGON_CARD_KEY')
  refused({ ...live, cardUrl: 'http://cards.example.com' }, 'ERGON_CARD_URL')
  assert.equal(readSettings(live, []).cardUrl, 'https://api.stripe.com')
})

test('readConfig() wants all that orders of certificates need', () => {
  const directory = { ingressAcme: 'https://acme.example/dir' }
  const email = { ingressAcmeEmail: 'operator@example.com' }
  refused({ ...directory, ...email }, 'ERGON_INGRESS_ACME', 'ERGON_INGRESS_TLS_PORT')
  refused({ ...directory, ingressTlsPort: '443' }, 'ERGON_INGRESS_ACME_EMAIL')
  refused({ ingressAcme: 'http://acme.example/dir' }, 'ERGON_INGRESS_ACME')
  refused({ ingressAcmeEmail: 'nobody' }, 'ERGON_INGRESS_ACME_EMAIL')
  const config = readSettings({ ...directory, ...email, ingressTlsPort: '443' }, [])
  assert.equal(config.ingressAcme, directory.ingressAcme)
})
