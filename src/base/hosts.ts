// Names and addresses that are this machine.
import { networkInterfaces } from 'node:os'

/** This machine as it stands in a URL or in the header Host. */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The addresses of `localhost` (RFC 6761 §6.3): no server of names is asked. */
export const LOOPBACK = ['127.0.0.1', '::1'] as const

/** The host of a URL, an IPv6 address without brackets. */
export const hostOfUrl = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** `localhost`, or a name below it. */
export const isLocalName = (host: string): boolean => /^(.+\.)?localhost$/.test(host)

/** A name or an address of the loopback interface; an IPv6 address without brackets. */
export const isLoopback = (host: string): boolean =>
  isLocalName(host) || /^127(\.\d+){3}$|^::1$/.test(host)

/** The addresses of this machine now: an operator or a provider changes them while the service runs. */
export const machineAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((some = []) => some.map(({ address }) => address))

/** A name or an address of any interface of this machine; an IPv6 address without brackets. */
export const isThisMachine = (host: string): boolean =>
  isLoopback(host) || machineAddresses().includes(host)
