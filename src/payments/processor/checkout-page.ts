// The page of a checkout session at the test processor, in plain HTML.
import type { ProcessorAnswer, ProcessorObject } from './objects.ts'

type PageState = {
  /** The outcome of the form that was sent before. */
  readonly notice?: string
  /** The bank asks the payer. */
  readonly isAtBank?: boolean
}

export function checkoutPage(session: ProcessorObject, shown: PageState = {}): ProcessorAnswer {
  const { status, cancel_url: back } = session
  const way =
    typeof back === 'string' ? `<p><a href="${escaped(back)}">Back without a card</a></p>` : ''
  const content =
    status === 'open'
      ? `${shown.isAtBank === true ? BANK : CARD}${way}`
      : `<p>This page is ${escaped(String(status))}: nothing is left to do here.</p>`
  const notice = shown.notice === undefined ? '' : `<p role="alert">${escaped(shown.notice)}</p>`
  return { status: 200, body: `${HEAD}${notice}${content}</main></body></html>` }
}

const HEAD = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Test processor</title>
<style>:root { color-scheme: light dark; font: 1rem/1.5 system-ui } main { max-width: 30rem; margin: 2rem auto; padding: 0 1rem }
input, button { font: inherit; padding: 0.4rem }</style></head>
<body><main><h1>Add a test card</h1>
<p>Test money: no funds move. Give no real card. 4242 4242 4242 4242 pays.</p>`
const CARD = `<form method="post"><p><label>Card number<br>
<input name="number" inputmode="numeric" autocomplete="off" required></label></p>
<p><button>Save the card</button></p></form>`
const BANK = `<p>The bank wants you to confirm that the card is yours.</p>
<form method="post"><p><button name="bank" value="confirm">Confirm</button>
<button name="bank" value="refuse">Refuse</button></p></form>`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')
