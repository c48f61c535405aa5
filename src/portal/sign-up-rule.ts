// The rule of sign-up and the money of new accounts, which follow from the portal's address.
import { hostOfUrl, isLoopback } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import type { SignUpRule } from './settings.ts'

/** True while browsers of this machine alone reach portal and API. */
function isHere({ host, baseUrl }: Config, portalUrl: string): boolean {
  const addresses = [portalUrl, ...(baseUrl === undefined ? [] : [baseUrl])]
  return isLoopback(host) && addresses.every((url) => isLoopback(hostOfUrl(new URL(url))))
}

export function signUpRuleOf(config: Config, portalUrl: string): SignUpRule {
  return config.signUp ?? (isHere(config, portalUrl) ? 'open' : 'invite')
}

/** Test money never leaves this machine. */
export const newAccountEnv = (config: Config, portalUrl: string): 'live' | 'test' =>
  isHere(config, portalUrl) ? 'test' : 'live'
