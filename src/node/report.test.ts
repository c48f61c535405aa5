import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { readyText, workName } from './report.ts'

const PUBLIC = { baseUrl: 'https://api.example/', portalUrl: 'https://portal.example' }

const text = (models: string, isInstalled = true, settings: object = PUBLIC) =>
  readyText(
    {
      config: readSettings({ models, ...settings }, []),
      data: {} as Parameters<typeof readyText>[0]['data'],
      account: { account: 'acct_a', token: 'svc_a' },
      ownerLink: 'https://portal.example/sign-up#inv_a',
    },
    { seconds: '1.0', command: isInstalled ? 'ergon' : '/srv/ergon.mjs', isInstalled },
  )

test('readyText() prints a chat where a default model is on its way', () => {
  for (const models of ['default', 'smollm2-135m-instruct']) {
    assert.match(text(models), /curl https:\/\/api\.example\/v1\/chat\/completions .*svc_a/)
    assert.match(text(models), /The default models are small/)
  }
})

test('readyText() says first how the owner gets into the portal', () => {
  assert.match(text('none'), /^\nOpen the portal .*: https:\/\/portal\.example\/sign-up#inv_a\n/)
})

test('readyText() promises no model where none is loaded, and prints what answers all the same', () => {
  assert.doesNotMatch(text('none'), /chat|default models/)
  assert.match(text('none'), /curl https:\/\/api\.example\/v1\/models .*svc_a/)
  assert.match(text('none'), /models add/)
})

test('readyText() names the line that installs the command, until the command is installed', () => {
  for (const models of ['default', 'none']) {
    assert.match(
      text(models, false),
      /: \/srv\/ergon\.mjs models add --help\n.*: \/srv\/ergon\.mjs self install\n$/,
    )
    assert.match(text(models, true), /: ergon models add --help\n$/)
  }
})

test('workName() names the step of a file that is fetched and then unpacked', () => {
  assert.equal(workName('model', 'download'), 'fetch model')
  assert.equal(workName('model', 'unpack'), 'unpack model')
  assert.equal(workName('model', undefined), 'model')
})

test('readyText() names the test processor where there is one', () => {
  assert.doesNotMatch(text('none', true, {}), /Test processor/)
  assert.match(
    text('none', true, { testProcessorPort: '8099' }),
    /^Test processor: http:\/\/127\.0\.0\.1:8099 \(test money: no funds move\)$/m,
  )
})

test('readyText() says how an S3 client gets in', () => {
  assert.match(
    text('none', true, { region: 'north' }),
    /^Ergon answers at .*\nObject storage \(S3\) at the same address; access key and secret are a token, the region is north$/m,
  )
})
