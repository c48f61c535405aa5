import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { openDataFolder, settleDataFolder } from './data-folder.ts'
import { claimPorts } from './ports.ts'

const SECRETS = { postgres: 'a', mesh: 'b', state: 'c' }

test('the port of the database endpoint stays where it was, and a start says so when somebody else has it', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'ergon-data-'))
  t.after(() => rmSync(data, { recursive: true }))
  // Below the ephemeral range, and away from what the tests of ports use.
  const base = 29_100 + Math.floor(Math.random() * 80) * 10
  const config = readSettings({ data, port: String(base) }, [])
  const file = join(data, 'ergon.json')
  const known = { format: 1, created: '2026-01-01T00:00:00Z', port: base, pgPort: base + 5 }
  writeFileSync(file, JSON.stringify({ ...known, runFolder: '/run/ergon-test' }))
  writeFileSync(join(data, 'secrets.json'), JSON.stringify(SECRETS))
  const folder = await openDataFolder(config)
  const other = await claimPorts({ host: config.host, port: base + 10, pgPort: base + 5 })
  await assert.rejects(settleDataFolder(folder, config), {
    code: 'port_taken',
    message: /--pg-port/,
  })
  await other.release()
  const settled = await settleDataFolder(folder, config)
  t.after(() => settled.close())
  assert.deepEqual([settled.port, settled.pgPort], [base, base + 5])
  assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { pgPort: number }).pgPort, base + 5)
})

test('a first start on a port that is taken makes no folder', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'ergon-data-'))
  t.after(() => rmSync(parent, { recursive: true }))
  const base = 28_100 + Math.floor(Math.random() * 80) * 10
  const other = await claimPorts({ host: '127.0.0.1', port: base, pgPort: base + 5 })
  t.after(() => other.release())
  const data = join(parent, 'data')
  const config = readSettings({ data, port: String(base) }, [])
  await assert.rejects(async () => openDataFolder(config), { code: 'port_taken' })
  const further = { port: String(base + 10), testProcessorPort: String(base) }
  await assert.rejects(async () => openDataFolder(readSettings({ data, ...further }, [])), {
    code: 'port_taken',
    message: /--test-processor-port/,
  })
  assert.ok(!existsSync(data))
})

test('a damaged file of the data folder is named, and nothing is written', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'ergon-data-'))
  t.after(() => rmSync(data, { recursive: true }))
  const base = 27_100 + Math.floor(Math.random() * 80) * 10
  const config = readSettings({ data, port: String(base) }, [])
  const settle = async () => {
    const settled = await settleDataFolder(await openDataFolder(config), config)
    await settled.close()
    return settled
  }
  const { secrets } = await settle()
  assert.deepEqual((await settle()).secrets, secrets)
  const whole = Object.fromEntries(
    ['ergon.json', 'secrets.json'].map((name) => [name, readFileSync(join(data, name), 'utf8')]),
  )
  const { state: _, ...keyless } = secrets
  const known = JSON.parse(whole['ergon.json'] ?? '') as object
  const rows: [file: string, text: string | undefined, says: RegExp][] = [
    ['ergon.json', '{"format":1', /ergon\.json$/],
    ['ergon.json', 'null', /ergon\.json$/],
    ['ergon.json', JSON.stringify({ ...known, format: 'x' }), /ergon\.json: .* "format"$/],
    ['ergon.json', JSON.stringify({ ...known, port: 'abc' }), /ergon\.json: .* "port"$/],
    ['secrets.json', undefined, /secrets\.json$/],
    ['secrets.json', '[]', /secrets\.json$/],
    ['secrets.json', '{"postgres":"a', /secrets\.json$/],
    ['secrets.json', JSON.stringify(keyless), /secrets\.json: .* "state"$/],
    ['secrets.json', JSON.stringify({ ...secrets, postgres: 5 }), /secrets\.json: .* "postgres"$/],
  ]
  for (const [name, text, says] of rows) {
    const file = join(data, name)
    if (text === undefined) rmSync(file)
    else writeFileSync(file, text)
    await assert.rejects(settle(), { code: 'data_damaged', message: says }, text)
    assert.equal(existsSync(file) ? readFileSync(file, 'utf8') : undefined, text)
    writeFileSync(file, whole[name] ?? '')
  }
  assert.deepEqual((await settle()).secrets, secrets)
})
