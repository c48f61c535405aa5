import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRegistryLogin } from './registries.ts'
import { REGISTRY_NAME } from './registry-limits.ts'

test('a registry is a host as the name system has them, also in Punycode', () => {
  const names = [
    'ghcr.io',
    'xn--bcher-kva.example',
    'reg.xn--p1ai:5000',
    'a--b.example',
    'localhost',
  ]
  for (const name of [...names, '127.0.0.1:5000', 'registry:5000', '[::1]:5000'])
    assert.match(name, REGISTRY_NAME)
  const bad = [
    'ghcr',
    '-a.example',
    'a-.example',
    'a.-b',
    'a.b-',
    'a..b',
    'a.b\n',
    'a_b.example',
    '.a',
  ]
  for (const name of bad) assert.doesNotMatch(name, REGISTRY_NAME)
})

test('a name of a user has no control characters, and a password may have lines', () => {
  const login = { username: 'jürgen+ci@example.com', password: '{\n"key": 1\n}' }
  assert.deepEqual(parseRegistryLogin(login), login)
  for (const username of ['a:b', 'a\nb', 'a\rb', 'a\0b', 'a\x7f', 'a\x85', '\ud800'])
    assert.throws(() => parseRegistryLogin({ ...login, username }), {
      code: 'invalid_request',
      param: 'username',
    })
})
