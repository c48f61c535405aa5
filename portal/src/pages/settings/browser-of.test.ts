import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserOf } from './browser-of.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const NAMES: readonly (readonly [client: string, words: string])[] = [
  [
    `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/141.0.0.0 Safari/537.36`,
    'Chrome 141 on Linux',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
    'Edge 140 on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0',
    'Firefox 143 on macOS',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${SAFARI} Version/18.6 Mobile/15E148 Safari/604.1`,
    'Safari 18 on an iPhone',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`,
    'Chrome 141 on Android',
  ],
  ['curl/8.14.1', 'curl/8.14.1'],
  ['', ''],
]

test('browserOf() says the browser and its system, and repeats what it does not know', () => {
  for (const [client, words] of NAMES) assert.equal(browserOf(client), words)
})
