import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ceilingWords, type Ceiling } from './ceiling-words.ts'

const CEILING: Ceiling = {
  object: 'ceiling',
  model: 'small',
  tier: 'L0',
  router_reason: 'L0',
  ceiling_j: 20.5,
  ceiling_nj: '20500000000',
  ceiling_pusd: '1423602',
  least_nj: '1',
  prompt_tokens_max: 46,
  completion_tokens_max: 256,
}
const plain = (ceiling: Ceiling | undefined) =>
  ceilingWords(ceiling, 'tUSD').replaceAll('\u00a0', ' ')

test('ceilingWords() say what is held before, and what the ceiling of the meter is', () => {
  assert.match(
    plain({ ...CEILING, stream_rest_nj: '11100000000' }),
    /^An answer to this can cost at most 20\.5 J \(.+\), by small; once its first word is there, at most 11\.1 J more\.$/,
  )
})

test('ceilingWords() without a rest or a ceiling say the rest', () => {
  assert.match(plain(CEILING), /, by small\.$/)
  assert.match(plain(undefined), /stands here before you send/)
})
