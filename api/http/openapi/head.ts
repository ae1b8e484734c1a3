/** The parts of the document about the whole service. */
export const DOCUMENT_HEAD = {
  openapi: '3.1.0',
  info: {
    title: 'Plumbline',
    version: '1.0.0',
    description:
      'Measurements of the stablecoins of the Tempo chain: prices against the reference stable, flows, supply and policy. ' +
      'Every value is read from the chain. null means not measured, never 0. Times are UTC. Fields that end in _bps are ' +
      'basis points, in _tokens whole tokens, in _usd US dollars; integers of the chain are strings.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'The server of this document' }],
  // By default a key is optional, but an invalid key is refused everywhere.
  security: [{}, { subscription: [] }],
  components: {
    securitySchemes: {
      subscription: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'A subscription key, instead of a payment',
      },
      payment: {
        type: 'http' as const,
        scheme: 'Payment',
        description:
          'A payment for one answer, by the Machine Payments Protocol (https://mpp.dev): answer the challenge in `WWW-Authenticate` of the 402 with `Authorization: Payment <credential>`. If this service takes no payments, the 402 has no challenge, and a key is needed',
      },
      admin: { type: 'http' as const, scheme: 'bearer', description: 'The admin key' },
    },
  },
  tags: [
    { name: 'stablecoins', description: 'Tracked stables and their state' },
    { name: 'peg', description: 'Prices against the reference stable' },
    { name: 'rewards', description: 'Rewards for holders' },
    { name: 'fees', description: 'Which stables fees are paid in' },
    { name: 'risk', description: 'Scores that can be explained' },
    { name: 'reserves', description: 'What backs a stable' },
    { name: 'flows', description: 'Value that moves between stables' },
    {
      name: 'events',
      description: 'Events, as a list, as a stream and by webhook',
      externalDocs: { description: 'Receiving webhooks', url: '/docs/webhooks' },
    },
    { name: 'service', description: 'The service itself' },
    { name: 'admin', description: 'For the operator' },
  ],
}
