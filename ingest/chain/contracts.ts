import { type AbiEvent, toEventSelector } from 'viem'
import type { Emitter } from '../../clickhouse/chain/unknown-events.js'
import { RECEIVE_POLICY_GUARD, TIP20_CHANNEL_RESERVE } from '../../clickhouse/holders/transfers.js'
import {
  FEE_AMM_EVENTS,
  FEE_MANAGER_EVENTS,
  RECEIVE_POLICY_GUARD_EVENTS,
  STABLECOIN_DEX_EVENTS,
  TIP20_EVENTS,
  TIP20_FACTORY_EVENTS,
  TIP20_UNREAD_EVENTS,
  TIP403_EVENTS,
  ZONE_PORTAL_EVENTS,
} from './abis.js'
import {
  FEE_MANAGER,
  MULTICALL3,
  STABLECOIN_DEX,
  TIP20_FACTORY,
  TIP20_PREFIX,
  TIP403_REGISTRY,
  zoneOf,
} from './addresses.js'

/** A contract of the chain itself: what its events mean to an answer, and the first topics of those that are known. */
type ChainContract = { emitter: Emitter; topics: ReadonlySet<string> }

const contract = (emitter: Emitter, read: readonly AbiEvent[], unread: readonly string[] = []): ChainContract => ({
  emitter,
  topics: new Set([...read.map((event) => toEventSelector(event)), ...unread.map((event) => toEventSelector(event))]),
})

const TOKEN = contract('token', [...TIP20_EVENTS, ...TIP20_UNREAD_EVENTS])
/** The portal of a zone: what moves tokens is read; the rest is how the zone is run. */
const ZONE_PORTAL = contract('zones', ZONE_PORTAL_EVENTS, [
  'SequencerSetUpdated(uint64,uint8,address[])',
  'TokenEnabled(address,string,string,string)',
  'RoleUpdated(address,uint8,uint8)',
  'EnforcementModesUpdated(bool,bool)',
  'LeaderUpdated(address,address,uint64,uint64)',
  'DepositsPaused(address)',
  'DepositsResumed(address)',
  'PortalPaused(address)',
  'PortalResumed(address)',
  'AbdicationScheduled(uint8,uint64)',
  'RpcUrlUpdated(string)',
  'SequencerEncryptionKeyUpdated(bytes32,uint8,address,uint256,uint64)',
  'BatchSubmitted(uint64,uint256,bytes32,bytes32,bytes32,uint64)',
  'BatchSubmitted(uint64,uint256,bytes32,bytes32,bytes32,uint64,uint64)',
  'WithdrawalBounceBack(bytes32,uint64,address,uint128,uint64)',
  'DepositBounceBackPending(address,address,uint128,uint128)',
  'ZoneGasRateUpdated(uint128)',
  'MaxTempoGasRateUpdated(uint128)',
  'BouncebackGasUpdated(uint64)',
  'AdminTransferStarted(address,address)',
  'AdminTransferred(address,address)',
])

/** The chain's contracts that have one address. On the events of those with the emitter `other`, nothing published depends. */
const BY_ADDRESS: ReadonlyMap<string, ChainContract> = new Map([
  [TIP20_FACTORY, contract('factory', TIP20_FACTORY_EVENTS)],
  [STABLECOIN_DEX, contract('exchange', STABLECOIN_DEX_EVENTS)],
  [TIP403_REGISTRY, contract('policies', TIP403_EVENTS)],
  [FEE_MANAGER, contract('fees', [...FEE_MANAGER_EVENTS, ...FEE_AMM_EVENTS])],
  [RECEIVE_POLICY_GUARD, contract('guard', RECEIVE_POLICY_GUARD_EVENTS)],
  [
    TIP20_CHANNEL_RESERVE,
    contract(
      'channels',
      [],
      [
        'ChannelOpened(bytes32,address,address,address,address,address,bytes32,bytes32,uint96)',
        'Settled(bytes32,address,address,uint96,uint96,uint96)',
        'TopUp(bytes32,address,address,uint96,uint96)',
        'CloseRequested(bytes32,address,address,uint256)',
        'ChannelClosed(bytes32,address,address,uint96,uint96)',
        'CloseRequestCancelled(bytes32,address,address)',
      ],
    ),
  ],
  [
    '0x5af2000000000000000000000000000000000000',
    contract(
      'zones',
      [],
      [
        'OwnershipTransferred(address,address)',
        'ZoneCreated(uint32,address,address,bool,bool,address,address[],uint8,address)',
        'ZoneCreated(uint32,address,address,address,address,address,address,bytes32,bytes32,uint64)',
      ],
    ),
  ],
  // The keychain of access keys.
  [
    '0xaaaaaaaa00000000000000000000000000000000',
    contract(
      'other',
      [],
      [
        'KeyAuthorized(address,address,uint8,uint64)',
        'AdminKeyAuthorized(address,address)',
        'KeyRevoked(address,address)',
        'SpendingLimitUpdated(address,address,address,uint256)',
        'AccessKeySpend(address,address,address,uint256,uint256)',
        'KeyAuthorizationWitness(address,bytes32)',
        'KeyAuthorizationWitnessBurned(address,bytes32)',
      ],
    ),
  ],
  // Nonces.
  ['0x4e4f4e4345000000000000000000000000000000', contract('other', [], ['NonceIncremented(address,uint256,uint64)'])],
  // The registry of virtual addresses.
  ['0xfdc0000000000000000000000000000000000000', contract('other', [], ['MasterRegistered(bytes4,address)'])],
  [MULTICALL3, contract('other', [])],
  // Permit2.
  [
    '0x000000000022d473030f116ddee9f6b43ac78ba3',
    contract(
      'other',
      [],
      [
        'Approval(address,address,address,uint160,uint48)',
        'Permit(address,address,address,uint160,uint48,uint48)',
        'Lockdown(address,address,address)',
        'NonceInvalidation(address,address,address,uint48,uint48)',
        'UnorderedNonceInvalidation(address,uint256,uint256)',
      ],
    ),
  ],
])

/** The chain's own contract at a lower-case address; undefined for any other, whose logs anybody may write. */
export const chainContract = (address: string): ChainContract | undefined =>
  address.startsWith(TIP20_PREFIX)
    ? TOKEN
    : (BY_ADDRESS.get(address) ?? (zoneOf(address) === null ? undefined : ZONE_PORTAL))
