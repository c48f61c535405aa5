import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { convertBert } from '#inference/convert/bert.ts'
import { embeddingSource, MINILM_SHA256, sha256Of } from '../default-models.ts'

const source = embeddingSource()
const skip = 'reason' in source ? source.reason : false

describe('convertBert()', { skip }, () => {
  let folder = ''
  const model = 'folder' in source ? source.folder : ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-convert-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const format of ['q8_0', 'f16', 'f32'] as const)
    it(`writes the known bytes of all-MiniLM-L6-v2 as ${format}`, () => {
      const file = join(folder, `${format}.gguf`)
      const bytes = convertBert(model, file, format)
      assert.equal(sha256Of(file), MINILM_SHA256[format])
      assert.equal(bytes, { q8_0: 25_282_176, f16: 46_223_360, f32: 90_897_920 }[format])
    })

  it('leaves nothing behind when a source file is damaged', () => {
    const damaged = join(folder, 'damaged')
    cpSync(model, damaged, { recursive: true })
    writeFileSync(join(damaged, 'model.safetensors'), Buffer.alloc(100, 1))
    assert.throws(() => convertBert(damaged, join(folder, 'bad.gguf'), 'q8_0'), {
      code: 'model_file_invalid',
    })
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('bad')),
      [],
    )
  })

  it('refuses a vocabulary of the wrong length', () => {
    const short = join(folder, 'short')
    cpSync(model, short, { recursive: true })
    writeFileSync(join(short, 'vocab.txt'), '[PAD]\n[UNK]\n')
    assert.throws(() => convertBert(short, join(folder, 'short.gguf'), 'q8_0'), /2 lines/)
  })
})
