import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlSocketOf, loginStep, serviceAddress } from './profile.ts'

test('addressOf() takes an address as people write one', () => {
  const addresses: [text: string, address: string][] = [
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['https://api.example/v1', 'https://api.example'],
    ['https://api.example/ergon/v1/', 'https://api.example/ergon'],
    ['localhost:8080', 'http://localhost:8080'],
    ['localhost', 'http://localhost'],
    ['10.0.0.7:8080/v1', 'http://10.0.0.7:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['api.example', 'https://api.example'],
    ['api.example:8443/v1', 'https://api.example:8443'],
  ]
  for (const [text, address] of addresses) assert.equal(serviceAddress(text), address, text)
})

test('addressOf() refuses what is no address of a service', () => {
  for (const text of [
    '',
    '/v1',
    'ftp://api.example',
    'file:///etc',
    'http://a:b@api.example',
    'a b',
  ])
    assert.throws(() => serviceAddress(text), { message: /^Not an address of a service: / }, text)
})

test('loginStep() logs in at the service that the command was for', () => {
  assert.equal(loginStep({}), 'ergon login, or set ERGON_TOKEN')
  assert.equal(
    loginStep({ baseUrl: 'http://localhost:9000' }),
    'ergon login --base-url http://localhost:9000, or set ERGON_TOKEN',
  )
})

test('a command of the operator for a service elsewhere says that it runs on the machine of that service', () => {
  const data = '/nowhere'
  assert.throws(() => controlSocketOf({ data, baseUrl: 'https://api.example/v1' }), {
    message:
      'No data folder here: commands of the operator run on the machine of the service, not through https://api.example',
    next: 'log in on api.example, and run it where .ergon is',
  })
  assert.throws(() => controlSocketOf({ data, baseUrl: 'http://localhost:9000' }), {
    message: 'No data folder here',
  })
})
