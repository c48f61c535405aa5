// The console in Firefox: sign-up by a passkey, a first request whose receipt is verified in the browser, sign-out and
// sign-in. Then every page, without a reported error, a breach of its policy or a request to another host.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { MODELS } from '../settings.ts'
import { buildConsole } from './console-build.ts'
import { openFirefox, withoutFirefox, type Firefox } from './firefox.ts'
import { STEPS } from './walk.ts'

const skip = withoutFirefox
const SETTLED_MS = 500

if (skip === false) product(MODELS)
before(async () => {
  if (skip === false) await buildConsole()
})

/** A button by the first words of its text. */
const button = (text: string) => `//button[starts-with(normalize-space(), ${JSON.stringify(text)})]`
const heading = (text: string) =>
  `//*[self::h1 or self::h2][normalize-space()=${JSON.stringify(text)}]`

test('the walk through the console in Firefox', { skip }, async () => {
  const portal = String(sharedErgon().ready['portal_url'])
  await using firefox = await openFirefox()
  await firefox.go(`${portal}/sign-in`)
  await firefox.see(heading('Sign in'))
  await firefox.go(`${portal}/`)
  await signUp(firefox)
  await firefox.press(button('Ask from here'))
  await firefox.press("//a[normalize-space()='See its receipt']")
  await firefox.see("//*[contains(text(), 'Nothing hidden')]")
  assert.deepEqual(
    await firefox.read(
      `[...document.querySelectorAll('.checks li.holds b')].map((one) => one.textContent)`,
    ),
    ['Signed', 'In the log', 'Adds up', 'Nothing hidden'],
  )
  await firefox.go(`${portal}/more`)
  await firefox.press(button('Sign out'))
  await firefox.see("//input[@id='name']")
  await firefox.press("//a[@id='sign-in']")
  await firefox.see(heading('Overview'))
  await firefox.go(`${portal}/more`)
  await firefox.see(heading('All pages'))
  const paths = (await firefox.read(
    `[...document.querySelectorAll('.more a')].map((link) => link.getAttribute('href'))`,
  )) as readonly string[]
  assert.ok(paths.length >= 18, paths.join())
  for (const path of paths) {
    await firefox.go(portal + path)
    await firefox.see('//main//h1')
    await pause(SETTLED_MS)
    assert.deepEqual(
      await firefox.read(`document.querySelectorAll('main [role=alert]').length`),
      0,
      path,
    )
  }
  const { errors, asked } = firefox.reported()
  assert.deepEqual(errors, [])
  assert.ok(asked.length > paths.length, String(asked.length))
  assert.deepEqual(
    asked.filter((url) => !/^(blob:|data:)/.test(url) && new URL(url).origin !== portal),
    [],
  )
})

test('an error and a breach of the policy in a page are reported', { skip }, async () => {
  const portal = String(sharedErgon().ready['portal_url'])
  await using firefox = await openFirefox()
  await firefox.go(`${portal}/sign-in`)
  await firefox.see(heading('Sign in'))
  await firefox.read(`void setTimeout(() => { throw new Error('planted') })`)
  await firefox.read(
    `void document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/planted' }))`,
  )
  await pause(SETTLED_MS)
  const { errors } = firefox.reported()
  assert.ok(
    errors.some((text) => /planted/.test(text)),
    errors.join(),
  )
  assert.ok(
    errors.some((text) => /policy img-src/.test(text)),
    errors.join(),
  )
})

async function signUp(firefox: Firefox): Promise<void> {
  await firefox.fill("//input[@id='name']", 'in Firefox')
  await firefox.press(button('Create a passkey'))
  for (const step of [...STEPS, 'I have it']) await firefox.press(button(step))
  await firefox.see(heading('Ask something'))
}
