import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decrypt, encrypt, newEncryptionKey } from './encryption.ts'
import { Secret } from './log.ts'

const key = new Secret(newEncryptionKey())
const plain = new Secret('sk-ключ-7')
const refused = { code: 'undecipherable' }

test('decrypt() gives back what encrypt() took, and no two texts are alike', () => {
  const texts = Array.from({ length: 50 }, () => encrypt(plain, key, 'a'))
  assert.equal(new Set(texts).size, texts.length)
  for (const text of texts) assert.equal(decrypt(text, key, 'a').reveal(), plain.reveal())
  assert.ok(!texts.join().includes('sk-'))
})

test('decrypt() refuses another key, another purpose and any changed character', () => {
  const text = encrypt(plain, key, 'a')
  assert.throws(() => decrypt(text, new Secret(newEncryptionKey()), 'a'), refused)
  assert.throws(() => decrypt(text, key, 'b'), refused)
  for (let at = 0; at < text.length; at++) {
    // A whole step of the alphabet: the last character has bits that mean nothing.
    const other = text[at] === 'A' ? 'Z' : 'A'
    const changed = text.slice(0, at) + other + text.slice(at + 1)
    assert.throws(() => decrypt(changed, key, 'a'), refused, `at ${at}`)
  }
  for (const short of ['', 'e1.', text.slice(0, 20)])
    assert.throws(() => decrypt(short, key, 'a'), refused)
})
