import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { State } from './connect.ts'
import { migrate } from './migrate.ts'

test('a step whose name is not that of a step is refused, before anything is done', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-steps-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tables = pathToFileURL(`${folder}/`)
  const untouched = { transaction: () => assert.fail('the state is touched') } as unknown as State
  const applied = () => migrate(untouched, [{ area: 'things', tables, functions: [] }])
  for (const name of ['0001_two_words.sql', '1_first.sql', '0001_first.sql~', '0001_First.sql']) {
    writeFileSync(join(folder, name), '')
    await assert.rejects(applied(), { name: 'TypeError', message: new RegExp(`things/${name}`) })
    rmSync(join(folder, name))
  }
  writeFileSync(join(folder, '0001_first.sql'), '')
  await assert.rejects(applied(), /the state is touched/)
})
