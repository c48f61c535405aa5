// The settings of the portal.
import { z } from 'zod'
import { oneOfWords, onOff } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const PORTAL_SETTINGS = {
  portalUrl: {
    name: 'ERGON_PORTAL_URL',
    flag: 'portal-url',
    help: 'Public address of the portal, a host of its own, when a proxy is in front (default http://portal.localhost and the port after the API on loopback, else no portal)',
    check: z
      .url({ protocol: /^https?$/ })
      .refine((url) => new URL(url).pathname === '/', 'must have no path')
      .optional(),
  },
  signUp: {
    name: 'ERGON_SIGN_UP',
    flag: 'sign-up',
    help: 'Who may make an account in the portal: open (anybody), invite (members by invitation alone) or closed (not even those) (default open while portal and API are on loopback, else invite)',
    check: oneOfWords(['open', 'invite', 'closed']).optional(),
  },
  portalBuild: {
    name: 'ERGON_PORTAL_BUILD',
    flag: 'portal-build',
    help: 'on or off: a start from a checkout builds the console in the background when its sources have changed (default on)',
    check: onOff.default(true),
  },
} satisfies Settings
