import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idBody, isId, newId, newIdBody } from './ids.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const bitsOf = (body: string): bigint =>
  [...body].reduce((bits, digit) => (bits << 5n) | BigInt(ALPHABET.indexOf(digit)), 0n)

test('newIdBody() is a UUIDv7 of its time, in base32', () => {
  for (const nowMs of [0, 1, 1_790_000_000_123, 2 ** 48 - 1])
    for (let tries = 0; tries < 50; tries++) {
      const bits = bitsOf(newIdBody(nowMs))
      assert.equal(bits >> 80n, BigInt(nowMs))
      assert.equal((bits >> 76n) & 15n, 7n)
      assert.equal((bits >> 62n) & 3n, 2n)
    }
})

test('newIdBody() draws each of its 74 random bits', () => {
  const bodies = Array.from({ length: 400 }, () => bitsOf(newIdBody(5)))
  const ones = bodies.reduce((all, body) => all | body, 0n)
  const everyOne = bodies.reduce((all, body) => all & body, ones)
  const fixed = (5n << 80n) | (7n << 76n) | (2n << 62n)
  assert.equal(everyOne, fixed)
  assert.equal(ones, fixed | (0xfffn << 64n) | ((1n << 62n) - 1n))
  assert.equal(new Set(bodies).size, bodies.length)
})

test('ids sort by time, and are known by their prefix', () => {
  assert.ok(newIdBody(1_790_000_000_123) < newIdBody(1_790_000_000_124))
  const id = newId('req', 1)
  assert.equal(idBody('req', id), id.slice(4))
  assert.ok(!isId('rcpt', id) && !isId('req', `${id}0`) && !isId('req', id.toUpperCase()))
})
