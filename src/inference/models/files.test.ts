import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { demandOwnFolder } from './files.ts'

test('a model file lies in a folder that holds no home, links followed', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ergon-files-'))
  t.after(() => rmSync(root, { recursive: true }))
  const home = join(root, 'home/somebody')
  mkdirSync(join(home, 'models'), { recursive: true })
  symlinkSync(home, join(root, 'link'))
  const refused = (path: string) =>
    assert.throws(() => demandOwnFolder(path, [home]), {
      code: 'invalid_request',
      message: /would see all of .*; put it into a folder of its own/,
    })
  for (const folder of [home, join(root, 'home'), root, '/', join(root, 'link'), tmpdir()])
    refused(join(folder, 'model.gguf'))
  for (const folder of ['models', '../other'].map((name) => join(home, name))) {
    mkdirSync(folder, { recursive: true })
    demandOwnFolder(join(folder, 'model.gguf'), [home])
  }
  demandOwnFolder(join(root, 'link/models/model.gguf'), [home, join(root, 'absent')])
})
