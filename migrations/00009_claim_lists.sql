-- +goose Up

-- The dashboard lists settled claims of one state, latest use first, and the purge
-- walks them the other way round, state by state.
drop index effect_claims_settled;
create index effect_claims_settled on effect_claims (state, touched_at, key) where state in (4, 5, 6);
create index effect_claims_unknown on effect_claims (claimed_at, key) where state = 3;
-- Late receipts are few; those of the last day are counted on a page.
create index effect_receipts_at on effect_receipts (at);

-- +goose Down
drop index effect_receipts_at, effect_claims_unknown, effect_claims_settled;
create index effect_claims_settled on effect_claims (touched_at, key) where state in (4, 5, 6);
