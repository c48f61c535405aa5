import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { resolve } from 'node:path'
import { readSettings } from './config.ts'
import { dataPlace } from './data-place.ts'
import { readEnvironment } from './env.ts'

const before = process.env['ERGON_DATA']
afterEach(() => {
  if (before === undefined) delete process.env['ERGON_DATA']
  else process.env['ERGON_DATA'] = before
})

test('the place of the data folder is that of the settings', () => {
  const words = [
    [],
    ['--data', 'flag'],
    ['--data=flag'],
    ['--port', '8081', '--data', 'flag', '--json'],
    ['--data', 'one', '--data', 'other'],
  ]
  for (const named of [undefined, '', 'environment'])
    for (const argv of words) {
      if (named === undefined) delete process.env['ERGON_DATA']
      else process.env['ERGON_DATA'] = named
      const { data } = readSettings(readEnvironment(), argv)
      assert.equal(resolve(dataPlace(argv)), data, `${named} ${argv.join(' ')}`)
    }
})

test('faults of flags are for the settings', () => {
  delete process.env['ERGON_DATA']
  for (const argv of [['--data'], ['--no-such-flag', 'x'], ['word'], ['--port']])
    assert.equal(dataPlace(argv), '.ergon', argv.join(' '))
})
