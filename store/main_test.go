package store_test

import (
	"os"
	"testing"

	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }
