-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_features: select id, provider, name, dimensions, duplicate_threshold, search_floor, state

-- as in search_vector_memories: with

-- as in search_hybrid_features: select f.*, st.key as set_key, s.external_id as user_external, a.external_id as agent_external,
