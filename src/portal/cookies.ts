// The two cookies of the portal: the session's, and that of a passkey that was asked for. Both are for this host alone and
// out of reach of scripts. With https their names begin with __Host-: no other host can set them.
import { SESSION_DAYS_MAX } from '#identity/browser-sessions.ts'
import type { ReplyHeaders } from '#http/reply.ts'
import { CHALLENGE_MINUTES } from '#contract/portal/portal.ts'
import type { PortalOrigin } from './origin.ts'

type Headers = { readonly cookie?: string | undefined }

export interface Cookie {
  /** Undefined where the request has none, or several: then another page may have set one of them. */
  read(headers: Headers): string | undefined
  set(value: string): ReplyHeaders
  clear(): ReplyHeaders
}

export type Cookies = { readonly session: Cookie; readonly challenge: Cookie }

export const createCookies = (origin: PortalOrigin): Cookies => ({
  // Lax: a link from elsewhere to a page of the portal finds its reader signed in.
  session: cookie('ergon_session', origin, {
    sameSite: 'Lax',
    maxAgeS: SESSION_DAYS_MAX * 86_400,
  }),
  challenge: cookie('ergon_challenge', origin, {
    sameSite: 'Strict',
    maxAgeS: CHALLENGE_MINUTES * 60,
  }),
})

function cookie(
  plainName: string,
  { isSecure }: PortalOrigin,
  { sameSite, maxAgeS }: { readonly sameSite: 'Lax' | 'Strict'; readonly maxAgeS: number },
): Cookie {
  const name = isSecure ? `__Host-${plainName}` : plainName
  const rest = `; Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`
  return {
    read({ cookie: text = '' }) {
      const values = text
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
      return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined
    },
    set: (value) => ({ 'Set-Cookie': `${name}=${value}${rest}; Max-Age=${maxAgeS}` }),
    clear: () => ({ 'Set-Cookie': `${name}=${rest}; Max-Age=0` }),
  }
}
