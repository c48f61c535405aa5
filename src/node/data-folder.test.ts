import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { openDataFolder, settleDataFolder } from './data-folder.ts'
import { claimPorts } from './ports.ts'

test('a port of the database door that was written down stops no start when somebody else has it', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'ergon-data-'))
  t.after(() => rmSync(data, { recursive: true }))
  // Below the ephemeral range, and away from what the tests of ports use.
  const base = 29_100 + Math.floor(Math.random() * 80) * 10
  const config = readSettings({ data, port: String(base) }, [])
  const file = join(data, 'ergon.json')
  const known = { format: 1, created: '2026-01-01T00:00:00Z', port: base, pgPort: base + 5 }
  writeFileSync(file, JSON.stringify({ ...known, runFolder: '/run/ergon-test' }))
  const folder = await openDataFolder(config)
  const other = await claimPorts({ host: config.host, port: base + 10, pgPort: base + 5 })
  t.after(() => other.release())
  const settled = await settleDataFolder(folder, config)
  await settled.close()
  assert.equal(settled.port, base)
  assert.ok(!('pgPort' in JSON.parse(readFileSync(file, 'utf8'))), 'nothing listens there')
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
  assert.ok(!existsSync(data))
})
