// The portal in a gateway: an origin of its own for browsers, with passkeys, sessions and the console's files; and the
// logins of command lines, which ask at the API.
import {
  parseLoginApproval,
  parseLoginRedemption,
  parseLoginRequest,
  parseNewPasskey,
  parsePasskeyChange,
  parseRecovery,
  parseSignIn,
  parseSignUp,
  parseSignUpOptions,
} from '#contract/portal/portal.ts'
import { recordsOf } from '#http/account-records.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createChallenges } from './challenges.ts'
import { createCookies } from './cookies.ts'
import { createSessionCredential, isSignedIn } from './credential.ts'
import { createFiles } from './files.ts'
import { portalHeaders } from './headers.ts'
import { createLoginApprove } from './operations/login-approve.ts'
import { createLoginBegin } from './operations/login-begin.ts'
import { createLoginFinish } from './operations/login-finish.ts'
import { createLoginGet } from './operations/login-get.ts'
import { createDeviceApproval } from './operations/device-approval-create.ts'
import { createPasskeyAdd } from './operations/passkey-add.ts'
import { createPasskeyBegin } from './operations/passkey-begin.ts'
import { createPasskeyList } from './operations/passkey-list.ts'
import { createPasskeyRemove } from './operations/passkey-remove.ts'
import { createPasskeyRename } from './operations/passkey-rename.ts'
import { createRecoveryCodesRenew } from './operations/recovery-codes-renew.ts'
import { createSessionEnd } from './operations/session-end.ts'
import { createSessionGet } from './operations/session-get.ts'
import { createSessionList } from './operations/session-list.ts'
import { createSessionRemove } from './operations/session-remove.ts'
import { createTouch } from './operations/session-touch.ts'
import { createTouchBegin } from './operations/session-touch-begin.ts'
import { createSessionRecover } from './operations/session-recover.ts'
import { createSignInBegin } from './operations/sign-in-begin.ts'
import { createSignInFinish } from './operations/sign-in-finish.ts'
import { createSignUpBegin } from './operations/sign-up-begin.ts'
import { createSignUpFinish } from './operations/sign-up-finish.ts'
import { portalOriginOf } from './origin.ts'
import { placesOf } from './page-places.ts'
import { createPages } from './pages.ts'
import type { LoginParts, PortalParts } from './parts.ts'
import type { PortalSettings } from './settings.ts'
import { createSite } from './site.ts'
import { createPace } from './pace.ts'
import { createWebAuthn } from './webauthn.ts'

const PASSKEYS_OF = `select id as place, id, member, name, is_synced as synced, created_at, last_used_at from passkeys
  where account = $1 and id > $2 order by id limit $3`

export const PORTAL_GATEWAY: GatewayProduct<PortalSettings> = { name: 'portal', open }

/** Where there is no portal its operations are known all the same: no request reaches those that need one. */
const NO_SITE = {
  port: 0,
  url: 'http://portal.localhost',
  signUp: 'closed',
  env: 'live',
  baseUrl: 'http://localhost',
  statusUrl: 'http://localhost',
  pusdPerJ: '0',
  freeJ: '0',
  ports: [],
  files: '',
} as const

function open(core: GatewayCore, { site }: PortalSettings): GatewayPart {
  const { readers: state, clientOf, clock, identity, log } = core
  const { port, url, files: folder, ports: ownPorts, ...terms } = site ?? NO_SITE
  const { signUp, env, baseUrl } = terms
  const origin = portalOriginOf(url)
  const cookies = createCookies(origin)
  const pace = createPace({ clientOf, clock })
  const challenges = createChallenges({ state, cookie: cookies.challenge })
  const webauthn = createWebAuthn(origin)
  const parts = { state, clock, origin, cookies, challenges, webauthn, pace, signUp, env }
  const sessions = { identity, state: core.lookUps, clock, cookie: cookies.session }
  const headers = portalHeaders(origin, baseUrl)
  const pages = createPages({
    files: createFiles({ folder, places: placesOf(terms), clock, log }),
    isSignedIn: (exchange) => isSignedIn(exchange, sessions),
    headers,
  })
  const credential = createSessionCredential(sessions, [...headers, 'Cache-Control', 'no-store'])
  return {
    endpoints: endpointsOf(parts, { portalUrl: site?.url, ownPorts }),
    sites: site === undefined ? [] : [createSite({ port, origin, identity, credential, pages })],
    account: { records: { passkey: recordsOf(state, PASSKEYS_OF) } },
  }
}

function endpointsOf(
  parts: PortalParts,
  logins: Pick<LoginParts, 'portalUrl' | 'ownPorts'>,
): NonNullable<GatewayPart['endpoints']> {
  const { state, pace, clock } = parts
  const api = { state, pace, clock, ...logins }
  return {
    'sign-up.begin': { parse: parseSignUpOptions, handle: createSignUpBegin(parts) },
    'sign-up.finish': { parse: parseSignUp, handle: createSignUpFinish(parts) },
    'sign-in.begin': { handle: createSignInBegin(parts) },
    'sign-in.finish': { parse: parseSignIn, handle: createSignInFinish(parts) },
    'session.recover': { parse: parseRecovery, handle: createSessionRecover(parts) },
    'session.get': { handle: createSessionGet(parts) },
    'session.end': { handle: createSessionEnd(parts) },
    'session.touch-begin': { handle: createTouchBegin(parts) },
    'session.touch': { parse: parseSignIn, handle: createTouch(parts) },
    'session.list': { handle: createSessionList(parts) },
    'session.remove': { handle: createSessionRemove(parts) },
    'passkey.list': { handle: createPasskeyList(parts) },
    'passkey.begin': { handle: createPasskeyBegin(parts) },
    'passkey.add': { parse: parseNewPasskey, handle: createPasskeyAdd(parts) },
    'passkey.rename': { parse: parsePasskeyChange, handle: createPasskeyRename(parts) },
    'passkey.remove': { handle: createPasskeyRemove(parts) },
    'recovery-codes.renew': { handle: createRecoveryCodesRenew(parts) },
    'device-approval.create': { handle: createDeviceApproval(parts) },
    'login.begin': { parse: parseLoginRequest, handle: createLoginBegin(api) },
    'login.get': { handle: createLoginGet(parts) },
    'login.approve': { parse: parseLoginApproval, handle: createLoginApprove(parts) },
    'login.finish': { parse: parseLoginRedemption, handle: createLoginFinish(api) },
  }
}
