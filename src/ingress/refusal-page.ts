// The page of a refusal for browsers: the reason in words, without a script or a file.
import { STATUS_CODES } from '#base/node-http.ts'
import type { ErgonError } from '#base/errors.ts'
import { advised } from '#contract/errors.ts'

export function refusalPage(
  error: ErgonError,
  requestId: string,
): { readonly body: string; readonly contentType: string } {
  const status = `${error.status} ${STATUS_CODES[error.status] ?? ''}`.trim()
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(status)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1rem; color-scheme: light dark }
h1 { font-size: 1.5rem }
p:last-child { opacity: 0.7 }
</style>
<h1>${escaped(status)}</h1>
<p>${escaped(advised(error))}</p>
<p>${escaped(error.code)} · request ${escaped(requestId)}</p>
</html>
`
  return { body, contentType: 'text/html; charset=utf-8' }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '')
