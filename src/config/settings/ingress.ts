// The settings of the ingress.
import { z } from 'zod'
import { oneOfWords, port } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const INGRESS_SETTINGS = {
  ingressTlsPort: {
    name: 'ERGON_INGRESS_TLS_PORT',
    flag: 'ingress-tls-port',
    help: 'Port of the ingress for HTTPS and HTTP/2, with the certificates of ERGON_INGRESS_CERTIFICATES (default: none)',
    check: port.optional(),
  },
  ingressCertificates: {
    name: 'ERGON_INGRESS_CERTIFICATES',
    flag: 'ingress-certificates',
    help: 'Folder of certificates of routes: <host>.crt and <host>.key in PEM, _.example.com for all names one level below; changes are taken up within 5 s',
    check: z.string().optional(),
  },
  ingressAcme: {
    name: 'ERGON_INGRESS_ACME',
    flag: 'ingress-acme',
    help: 'Directory of an authority, such as https://acme-v02.api.letsencrypt.org/directory: certificates of routes are ordered there by ACME, and its terms are agreed to (default: none)',
    check: z.url({ protocol: /^https$/ }).optional(),
  },
  ingressAcmeEmail: {
    name: 'ERGON_INGRESS_ACME_EMAIL',
    flag: 'ingress-acme-email',
    help: 'Where the authority of ERGON_INGRESS_ACME writes to',
    check: z.email().optional(),
  },
  ingressAcmeRoots: {
    name: 'ERGON_INGRESS_ACME_ROOTS',
    flag: 'ingress-acme-roots',
    help: 'PEM file of certificates by which the authority of ERGON_INGRESS_ACME is known (default: those of Node)',
    check: z.string().optional(),
  },
  ingressHttps: {
    name: 'ERGON_INGRESS_HTTPS',
    flag: 'ingress-https',
    help: 'only: plain requests for a name with a certificate are sent to HTTPS, and browsers stay there; or optional (default)',
    check: oneOfWords(['optional', 'only']).default('optional'),
  },
} satisfies Settings
