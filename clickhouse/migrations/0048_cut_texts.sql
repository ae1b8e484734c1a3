-- A stable's texts are kept up to a length: anybody can create stables, and their texts are as long as their creator pays
-- for, while every list repeats them. symbol and currency have 64 characters (Unicode code points) at most, name 256.
-- Longer ones that are stored are cut here, as ingest now cuts them; the chain has them in full. Nothing has to be read again.
ALTER TABLE stablecoins
    ADD COLUMN IF NOT EXISTS truncated Array(Enum8('symbol' = 1, 'name' = 2, 'currency' = 3)) COMMENT 'which of the texts are longer on the chain' CODEC(ZSTD(1)) AFTER currency;

ALTER TABLE stablecoins
    UPDATE truncated = arrayMap(text -> text.1, arrayFilter(text -> text.2, [('symbol', lengthUTF8(symbol) > 64), ('name', lengthUTF8(name) > 256), ('currency', lengthUTF8(currency) > 64)])),
           symbol = substringUTF8(symbol, 1, 64), name = substringUTF8(name, 1, 256), currency = substringUTF8(currency, 1, 64)
    WHERE lengthUTF8(symbol) > 64 OR lengthUTF8(name) > 256 OR lengthUTF8(currency) > 64
    SETTINGS mutations_sync = 1;
