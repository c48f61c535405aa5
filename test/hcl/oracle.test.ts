// Our parser against HashiCorp's, as hcl2json gives it: what both read is equal, and what one refuses the other refuses.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { oracleForm } from './oracle-form.ts'

// Its types bring those of browsers, which the whole tree would then have.
const require = createRequire(import.meta.url)
const { parse } = require('@cdktn/hcl2json') as {
  parse(name: string, text: string): Promise<Record<string, unknown>>
}

const FOLDER = new URL('documents/', import.meta.url)
const DOCUMENTS = readdirSync(FOLDER).map((name) => ({
  name: name.replace('.hcl', ''),
  text: readFileSync(new URL(name, FOLDER), 'utf8'),
}))

/** Document → why ours is another answer. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'different-conditional-in-text': 'hcl2json writes it as a directive, %{ if }; both mean the same',
  'different-marker-at-end':
    'we take a marker that ends the file; HashiCorp wants a newline after it',
  'different-namespace': 'functions of providers, a::b(), are no part of our language',
  'different-huge-number': 'a number has at most 400 digits; the oracle gives null',
}

async function answerOf(text: string): Promise<unknown> {
  try {
    return await parse('a.hcl', text)
  } catch {
    return { refused: true }
  }
}

/** Both as JSON has them: -0 is 0 there. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown
const isRefused = (value: unknown) =>
  value !== null && typeof value === 'object' && 'refused' in value

async function agrees(text: string, ours = oracleForm(text)): Promise<boolean> {
  const theirs = await answerOf(text)
  if (isRefused(theirs) || isRefused(ours)) return isRefused(theirs) && isRefused(ours)
  return isDeepStrictEqual(asJson(theirs), asJson(ours))
}

test('every document is read as the oracle reads it, or its difference is explained', async () => {
  assert.ok(DOCUMENTS.length >= 60, `${DOCUMENTS.length} documents`)
  for (const { name, text } of DOCUMENTS) {
    const expected = DIFFERENCES[name] === undefined
    assert.equal(await agrees(text), expected, `${name}: ${JSON.stringify(oracleForm(text))}`)
  }
})

test('the comparison sees a wrong literal, a lost block, and a range that is off by one', async () => {
  const text = 'a = 1\nb "x" {\n  c = f(1)\n}\n'
  assert.equal(await agrees(text), true)
  for (const wrong of [
    { a: 2, b: { x: [{ c: '${f(1)}' }] } },
    { a: 1 },
    { a: 1, b: { x: [{ c: '${f(1}' }] } },
    { refused: 'x' },
  ])
    assert.equal(await agrees(text, wrong as ReturnType<typeof oracleForm>), false)
})
